import { assert } from 'chai';
import { prepare, type LineFacts, type RatingContext } from '../../../src/rating/index.js';
import { aCard, aContext, aLine, anAccount, anAttribute, anEvent, aRow } from './facts.js';
import { aService, rate, rateAmount, rejectionOf } from './facts.js';

const perCall = (unitRate: string) => [aRow('api_calls', 'QUANTITY', { unitRate })];

describe('rating/account, service, line, currency, card', () => {
  const rejections: [name: string, context: RatingContext, expected: string][] = [
    [
      'no account',
      aContext({ account: null }),
      "ACCOUNT_NOT_FOUND: No account has the external id 'acme'",
    ],
    [
      'inactive account',
      aContext({ account: anAccount({ isActive: false }) }),
      "ACCOUNT_INACTIVE: Account 'acme' is not active",
    ],
    [
      'no service',
      aContext({ service: null }),
      'SERVICE_NOT_FOUND: There is no service 11111111-1111-4111-8111-111111111111',
    ],
    [
      'inactive service',
      aContext({ service: aService({ isActive: false }) }),
      "SERVICE_INACTIVE: Service 'Messaging' is not active",
    ],
    [
      'no currency',
      aContext({ service: aService({ currency: null }) }),
      "NO_RATE_CARD: Neither the contract, nor account 'acme', nor service 'Messaging' has a currency, so no rate card can be chosen",
    ],
    [
      'no card of the currency',
      aContext({ account: anAccount({ defaultCurrency: 'EUR' }) }),
      "NO_RATE_CARD: Service 'Messaging' has no rate card in EUR",
    ],
    [
      'nothing at all',
      aContext({ account: null, service: null }),
      "ACCOUNT_NOT_FOUND: No account has the external id 'acme'",
    ],
  ];
  for (const [name, context, expected] of rejections) {
    // spec/rating.md R6, R7, R15
    it(`rejects: ${name}`, () => {
      assert.equal(rejectionOf(rate(anEvent(), context)), expected);
    });
  }

  // spec/rating.md R11
  it('rejects an instance that no running line has, and names it', () => {
    const lines = [aLine('l1', { serviceInstanceId: 'i-1', endDate: '2024-03-14' })];
    assert.equal(
      rejectionOf(rate(anEvent({ serviceInstanceId: 'i-1' }), aContext({ lines }))),
      "INSTANCE_NOT_FOUND: No contract line of account 'acme' on service 'Messaging' with instance 'i-1' runs on 2024-03-15",
    );
  });

  // The event is of 2024-03-15.
  const lineCases: [
    name: string,
    lines: LineFacts[],
    instance: string | null,
    expected: string | null,
  ][] = [
    ['no line: the catalog', [], null, null],
    ['always running', [aLine('a')], null, 'a'],
    ['starts today', [aLine('a', { startDate: '2024-03-15' })], null, 'a'],
    ['starts tomorrow', [aLine('a', { startDate: '2024-03-16' })], null, null],
    ['ends today', [aLine('a', { endDate: '2024-03-15' })], null, 'a'],
    ['ended yesterday', [aLine('a', { endDate: '2024-03-14' })], null, null],
    ['terminated today', [aLine('a', { terminationDate: '2024-03-15' })], null, 'a'],
    [
      'terminated yesterday',
      [aLine('a', { endDate: '2025-01-01', terminationDate: '2024-03-14' })],
      null,
      null,
    ],
    [
      'ended before its termination',
      [aLine('a', { endDate: '2024-03-14', terminationDate: '2025-01-01' })],
      null,
      null,
    ],
    ['another service', [aLine('a', { serviceId: 'another' })], null, null],
    [
      'the latest start wins',
      [
        aLine('a', { startDate: '2024-01-01' }),
        aLine('b', { startDate: '2024-02-01' }),
        aLine('c'),
      ],
      null,
      'b',
    ],
    [
      'of one start the lowest id wins',
      [aLine('b', { startDate: '2024-01-01' }), aLine('a', { startDate: '2024-01-01' })],
      null,
      'a',
    ],
    ['no instance named: any line', [aLine('a', { serviceInstanceId: 'i-1' })], null, 'a'],
    [
      'the named instance, though another started later',
      [
        aLine('a', { serviceInstanceId: 'i-1' }),
        aLine('b', { serviceInstanceId: 'i-2', startDate: '2024-03-01' }),
      ],
      'i-1',
      'a',
    ],
    ['an empty instance names none', [aLine('a')], '', 'a'],
  ];
  for (const [name, lines, serviceInstanceId, expected] of lineCases) {
    // spec/rating.md R8 to R13
    it(`line: ${name}`, () => {
      const prepared = prepare(anEvent({ serviceInstanceId }), aContext({ lines }));
      assert.isTrue(prepared.ok);
      assert.equal(prepared.ok ? (prepared.owner.line?.id ?? null) : 'rejected', expected);
    });
  }

  const currencies: [
    name: string,
    contract: string | null,
    account: string | null,
    service: string | null,
    expected: string,
  ][] = [
    // 100 calls at 3, 2, 1
    ["the contract's", 'GBP', 'EUR', 'USD', '300'],
    ["else the account's", null, 'EUR', 'USD', '200'],
    ["else the service's", null, null, 'USD', '100'],
  ];
  for (const [name, contractCurrency, defaultCurrency, currency, expected] of currencies) {
    // spec/rating.md R14
    it(`currency: ${name}`, () => {
      const cards = ['USD', 'EUR', 'GBP'].map((each, index) =>
        aCard(perCall(`${index + 1}`), { currency: each }),
      );
      const context = aContext({
        account: anAccount({ defaultCurrency }),
        service: aService({ currency, cards }),
        lines: [aLine('a', { contractCurrency })],
      });
      assert.equal(rateAmount({}, context), expected);
    });
  }

  const versions = [
    aCard(perCall('2'), { versionNo: 2, fromDate: '2024-02-01', toDate: '2024-02-29' }),
    aCard(perCall('1'), { versionNo: 1, fromDate: '2024-01-10', toDate: '2024-01-31' }),
    aCard(perCall('4'), { versionNo: 4, fromDate: '2024-03-01' }),
    aCard(perCall('3'), { versionNo: 3, fromDate: '2024-03-01', toDate: '2024-02-29' }),
  ];
  const versionCases: [name: string, at: string, expected: string][] = [
    ['long before the first', '2023-01-01T00:00:00Z', '100'],
    ['the day before the first', '2024-01-09T23:59:59Z', '100'],
    ['the first day of the first', '2024-01-10T00:00:00Z', '100'],
    ['the last day of the first', '2024-01-31T23:59:59.999Z', '100'],
    ['the first day of the second', '2024-02-01T00:00:00Z', '200'],
    ['an offset that makes it the day before', '2024-02-01T01:00:00+02:00', '100'],
    ['the leap day', '2024-02-29T12:00:00Z', '200'],
    ['two of one day: the higher number', '2024-03-01T00:00:00Z', '400'],
    ['the future', '2030-01-01T00:00:00Z', '400'],
  ];
  for (const [name, eventTimestamp, expected] of versionCases) {
    // spec/rating.md R16, R17
    it(`card version: ${name}`, () => {
      assert.equal(
        rateAmount({ eventTimestamp }, aContext({ service: aService({ cards: versions }) })),
        expected,
      );
    });
  }

  const exception = aCard(perCall('0.5'), { fromDate: '2024-06-01' });
  const exceptionCases: [name: string, line: LineFacts, expected: string][] = [
    // 100 * 0.5, also before the first version of the exception
    ['wins over the catalog', aLine('a', { cards: [exception] }), '50'],
    // 100 * 0.01
    [
      'of another currency is passed over',
      aLine('a', { cards: [{ ...exception, currency: 'EUR' }] }),
      '1',
    ],
    [
      'of a line that does not run is passed over',
      aLine('a', { cards: [exception], startDate: '2025-01-01' }),
      '1',
    ],
  ];
  for (const [name, line, expected] of exceptionCases) {
    // spec/rating.md R15
    it(`exception card: ${name}`, () => {
      assert.equal(rateAmount({}, aContext({ lines: [line] })), expected);
    });
  }

  describe('plan', () => {
    const service = aService();
    const copies = service.attributes.map((each) => ({ ...each, id: `copy of ${each.id}` }));
    const planOf = (lines: LineFacts[]) => {
      const prepared = prepare(anEvent(), aContext({ service, lines }));
      if (!prepared.ok) throw new Error(prepared.message);
      return prepared.plan;
    };
    const changed = () => [anAttribute('api_calls', 'PRICEABLE', { isMeter: true })];

    it('is one object for no line, lines without attributes and lines with copied attributes', () => {
      const plan = planOf([]);
      assert.strictEqual(planOf([aLine('a')]), plan);
      assert.strictEqual(planOf([aLine('b', { attributes: copies })]), plan);
    });

    it('is shared by lines that differ in the same way, and by no others', () => {
      const plan = planOf([aLine('a', { attributes: changed() })]);
      assert.strictEqual(
        planOf([aLine('b', { attributes: [...changed(), ...copies.slice(1)] })]),
        plan,
      );
      assert.notStrictEqual(planOf([]), plan);
    });

    it('differs for an exception card, and for a new service object', () => {
      const cards = [exception];
      assert.notStrictEqual(planOf([aLine('a', { cards })]), planOf([]));
      const other = prepare(anEvent(), aContext({ service: aService() }));
      assert.notStrictEqual(other.ok && other.plan, planOf([]));
    });

    it('is the same after JSON', () => {
      const plan = planOf([aLine('a', { attributes: changed() })]);
      assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
    });

    it("has the line's attribute where both have one, and the line's own", () => {
      const attributes = [...changed(), anAttribute('seats', 'INPUT')];
      const names = planOf([aLine('a', { attributes })]).attributes.map(
        ({ name, isMeter, isOfService }) => [name, isMeter, isOfService],
      );
      assert.deepEqual(names, [
        ['api_calls', true, true],
        ['region', false, true],
        ['seats', false, false],
      ]);
    });
  });
});
