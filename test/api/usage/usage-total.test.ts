import { expect } from 'chai';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { attribute, priceOfEach, usdCard } from '../../support/story/prices.js';

const path = '/v1/usage';

/** A row in short: `2026-03-01T10 eu USD 2 events, 30 for 0.3`. */
interface Row {
  bucket: string | null;
  group: Record<string, string | null>;
  currency: string;
  events: number;
  quantity: number;
  amount: number;
}
const short = ({ bucket, group, currency, events, quantity, amount }: Row): string =>
  [
    ...(bucket === null ? [] : [bucket.slice(0, 13)]),
    ...Object.values(group).map((value) => value ?? '-'),
    `${currency} ${events} ${quantity} ${amount}`,
  ].join(' ');

describe('totals of usage', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let acme: string;
  let other: string;
  let calls: string;
  let compute: string;
  before(async () => {
    acme = await createAccount(tenant, 'acme');
    other = await createAccount(tenant, 'other');
    calls = await createService(tenant, 'Calls', {
      inputAttributes: [attribute('region', { dimensionDataType: 'String' })],
    });
    compute = await createService(tenant, 'Compute', {
      priceableAttributes: [attribute('cpu'), attribute('gb')],
      rateCards: [usdCard(priceOfEach('cpu', 2), priceOfEach('gb', 0.5))],
    });
    const of = (account: string, at: string, api_calls: string, region?: string) =>
      usage(account, calls, {
        eventTimestamp: at,
        dimensions: { api_calls, ...(region === undefined ? {} : { region }) },
      });
    await send(
      tenant,
      of('acme', '2026-03-01T10:00:00Z', '10', 'eu'),
      of('acme', '2026-03-01T10:59:59.999Z', '20', 'us'),
      of('acme', '2026-03-01T11:00:00Z', '30', 'eu'),
      of('acme', '2026-03-08T00:00:00Z', '40'),
      of('other', '2026-03-09T23:30:00Z', '50', 'eu'),
      of('other', '2026-04-01T00:00:00Z', '60', 'eu'),
      usage('acme', compute, {
        eventTimestamp: '2026-03-02T08:15:00Z',
        quantity: 1,
        dimensions: { cpu: '3', gb: '8' },
      }),
      // Rejected: it counts nowhere.
      usage('nobody', calls),
    );
    await waitUntilRated(tenant, 8);
  });

  const list = async (query: string) => {
    const { body } = await tenant.get(`${path}?${query}`).expect(200);
    return body as { data: Row[]; pagination: Record<string, unknown> };
  };
  const rows = async (query: string) => (await list(query)).data.map(short);

  // 10+20+30+40+50+60 = 210 calls at 0.01 = 2.10; 3 x 2 + 8 x 0.5 = 10.
  // spec/beyond.md R22
  it('are one row for each currency where nothing divides them', async () => {
    const { data, pagination } = await list('');
    expect(data).to.deep.equal([
      { bucket: null, group: {}, currency: 'USD', events: 7, quantity: 211, amount: 12.1 },
    ]);
    expect(pagination).to.include({ total: 1 });
  });

  const cases: [name: string, query: string, expected: string[]][] = [
    [
      'hours',
      'from=2026-03-01&to=2026-03-02&bucket=hour',
      ['2026-03-01T10 USD 2 30 0.3', '2026-03-01T11 USD 1 30 0.3'],
    ],
    [
      'days',
      'from=2026-03-01&to=2026-03-10&bucket=day&service=Calls',
      ['2026-03-01T00 USD 3 60 0.6', '2026-03-08T00 USD 1 40 0.4', '2026-03-09T00 USD 1 50 0.5'],
    ],
    [
      // The 1st and the 8th of March 2026 are Sundays.
      'weeks from Monday',
      'from=2026-02-01&to=2026-04-01&bucket=week&service=Calls',
      ['2026-02-23T00 USD 3 60 0.6', '2026-03-02T00 USD 1 40 0.4', '2026-03-09T00 USD 1 50 0.5'],
    ],
    [
      'months',
      'bucket=month&service=Calls',
      ['2026-03-01T00 USD 5 150 1.5', '2026-04-01T00 USD 1 60 0.6'],
    ],
    ['dates as midnights, the end excluded', 'from=2026-03-08&to=2026-03-09', ['USD 1 40 0.4']],
    ['nothing between equal ends', 'from=2026-03-08&to=2026-03-08', []],
    [
      'instants within an hour',
      'from=2026-03-01T10:59:59.999Z&to=2026-03-01T11:00:00.001Z',
      ['USD 2 50 0.5'],
    ],
    [
      'instants that begin and end within hours and days',
      'from=2026-03-01T10:30:00Z&to=2026-03-09T23:30:00Z&service=Calls&bucket=day',
      ['2026-03-01T00 USD 2 50 0.5', '2026-03-08T00 USD 1 40 0.4'],
    ],
    ['an account by its external id', 'account=other', ['USD 2 110 1.1']],
    [
      'an account by hour',
      'account=acme&bucket=hour&service=Calls&to=2026-03-02',
      ['2026-03-01T10 USD 2 30 0.3', '2026-03-01T11 USD 1 30 0.3'],
    ],
    [
      'an account within days',
      'account=acme&from=2026-03-01T10:30:00Z&to=2026-03-08T00:00:00.001Z&service=Calls',
      ['USD 3 90 0.9'],
    ],
    ['an attribute', 'attribute=gb', ['USD 1 8 4']],
    ['a usage type', 'usageType=Payout', []],
    ['a dimension', 'dimension:region=eu&to=2026-04-01', ['USD 3 90 0.9']],
  ];
  for (const [name, query, expected] of cases) {
    // spec/beyond.md R22
    it(`are of ${name}`, async () => {
      expect(await rows(query)).to.deep.equal(expected);
    });
  }

  // spec/beyond.md R23
  it('are grouped by up to three names', async () => {
    const march = 'from=2026-03-01&to=2026-04-01';
    expect(await rows(`${march}&groupBy=account`)).to.have.members([
      `${acme} USD 5 101 11`,
      `${other} USD 1 50 0.5`,
    ]);
    expect(await rows(`${march}&groupBy=attribute`)).to.deep.equal([
      'api_calls USD 5 150 1.5',
      'cpu USD 1 3 6',
      'gb USD 1 8 4',
    ]);
    expect(await rows(`${march}&groupBy=dimension:region,service,usageType`)).to.have.members([
      `eu ${calls} Charge USD 3 90 0.9`,
      `us ${calls} Charge USD 1 20 0.2`,
      `- ${calls} Charge USD 1 40 0.4`,
      `- ${compute} Charge USD 1 1 10`,
    ]);
    const { data } = await list(`${march}&groupBy=contract,dimension:region&service=Compute`);
    expect(data.map(({ group }) => group)).to.deep.equal([
      { contract: null, 'dimension:region': null },
    ]);
  });

  // spec/beyond.md R459
  it('are of minutes, whose sums are those of their hours', async () => {
    const minutes = async (query: string) => {
      const range = 'from=2026-03-01T10:00:00Z&to=2026-03-01T16:00:00Z&bucket=minute';
      const { data, pagination } = await list(`${range}&${query}`);
      const at = data.map(
        (row) => `${row.bucket?.slice(11, 16)} ${short({ ...row, bucket: null })}`,
      );
      return { at, total: pagination['total'] };
    };
    const [ten, last, eleven] = ['10:00 USD 1 10 0.1', '10:59 USD 1 20 0.2', '11:00 USD 1 30 0.3'];
    expect(await minutes('')).to.deep.equal({ at: [ten, last, eleven], total: 3 });
    expect((await minutes('account=acme')).at).to.deep.equal([ten, last, eleven]);
    expect((await minutes('dimension:region=eu')).at).to.deep.equal([ten, eleven]);
    expect((await minutes('service=Compute')).at).to.deep.equal([]);
    expect(await minutes('limit=1&offset=1')).to.deep.equal({ at: [last], total: 3 });
  });

  it('have pages, and the number of all rows', async () => {
    const { data, pagination } = await list('bucket=day&limit=2&offset=1');
    expect(data.map(short)).to.deep.equal([
      '2026-03-02T00 USD 1 1 10',
      '2026-03-08T00 USD 1 40 0.4',
    ]);
    expect(pagination).to.include({ total: 5, limit: 2, offset: 1 });
    expect((await list('bucket=day&offset=9')).pagination).to.include({ total: 5 });
  });

  const refused: [name: string, query: string, message: RegExp][] = [
    ['a name that is none', 'groupBy=acount', /'groupBy' 'acount' must be of: account, /],
    ['an empty name', 'groupBy=account,', /'groupBy' '' must be of/],
    ['a dimension without name', 'groupBy=dimension:', /'groupBy' 'dimension:' must be of/],
    ['a name twice', 'groupBy=account,account', /names 'account' twice/],
    ['four names', 'groupBy=account,service,contract,usageType', /at most 3 names, not 4/],
    ['another bucket', 'bucket=year', /'bucket' 'year' must be one of: minute, hour, day/],
    [
      'an inverted range',
      'from=2026-03-02&to=2026-03-01',
      /'from' must be before 'to': '2026-03-02' is not before '2026-03-01'/,
    ],
    ['minutes without an end', 'bucket=minute&from=2026-03-01', /at most 6 hours apart/],
    [
      'minutes of more than six hours',
      'bucket=minute&from=2026-03-01T10:00:00Z&to=2026-03-01T16:00:00.001Z',
      /'bucket' 'minute' needs 'from' and 'to' at most 6 hours apart/,
    ],
    ['a time that is none', 'from=yesterday', /'from' 'yesterday' must be a date/],
    [
      'an unknown parameter',
      'region=eu',
      /'region' is not a known query parameter.*, dimension:<name>\./,
    ],
    ['an account that is not there', 'account=nobody', /nobody/],
  ];
  for (const [name, query, message] of refused) {
    it(`refuse ${name}`, async () => {
      const { body } = await tenant.get(`${path}?${query}`).expect(400);
      expect(body.error.message).to.match(message);
    });
  }

  // 4 calls at 0.01 = 0.04, doubled = 0.08.
  // spec/beyond.md R23
  it('show under attribute null what pricing logic makes of the rows', async () => {
    const doubled = await createService(tenant, 'Doubled', {
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'total',
          transactionDimension: 'Customer',
          steps: [{ name: 'total', label: 'Twice', formula: 'Price(api_calls, api_calls) * 2' }],
        },
      ],
    });
    await send(tenant, usage('acme', doubled, { dimensions: { api_calls: '4' } }));
    await waitUntilRated(tenant, 9);
    expect(await rows('service=Doubled&groupBy=attribute')).to.deep.equal([
      'api_calls USD 1 4 0.04',
      '- USD 1 0 0.04',
    ]);
    expect(await rows('service=Doubled')).to.deep.equal(['USD 1 4 0.08']);
  });

  it('count a change of an hour once, however it is asked', async () => {
    const at = '2027-01-01T05:30:00Z';
    for (let round = 1; round <= 3; round += 1) {
      await send(tenant, usage('acme', calls, { eventTimestamp: at }));
      await waitUntilRated(tenant);
      const expected = [`USD ${round} ${100 * round} ${round}`];
      expect(await rows('from=2027-01-01&to=2027-01-02')).to.deep.equal(expected);
      expect(await rows('from=2027-01-01T05:00:00Z&to=2027-01-01T06:00:00Z')).to.deep.equal(
        expected,
      );
      expect(await rows(`from=${at}&to=2027-01-01T05:30:00.001Z`)).to.deep.equal(expected);
      expect(await rows(`from=2027-01-01&to=2028-01-01&account=${acme}`)).to.deep.equal(expected);
    }
  });

  it('are not of another tenant', async () => {
    const neighbour = await instance.tenant();
    const { body } = await neighbour.get(path).expect(200);
    expect(body.data).to.deep.equal([]);
  });
});
