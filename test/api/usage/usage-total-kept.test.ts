import { expect } from 'chai';
import { asOwner } from '../../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { attribute, priceOfEach, usdCard } from '../../support/story/prices.js';
import { until } from '../../start/workbench.js';
import { rebuildProjections } from '../../../src/commands/usage/project-usage.js';

const questions = [
  'bucket=hour&groupBy=account,attribute',
  'bucket=day&groupBy=service,usageType',
  'from=2026-03-01T10:30:00Z&to=2026-03-20T02:00:00.5Z&bucket=week',
];

/** Of events with several charges, and of charges that are more than their rows. */
const questionsOfCharges = [
  'account=both',
  'account=both&bucket=day',
  'account=both&bucket=day&groupBy=account,service',
  'account=both&bucket=month&groupBy=attribute',
  'account=both&bucket=day&groupBy=service,attribute',
  'account=both&attribute=api_calls&bucket=day',
  'service=Market&groupBy=usageType',
  'service=Market&bucket=hour&groupBy=attribute',
  'service=Doubled&bucket=day&groupBy=attribute',
];

/** What is kept of totals so that they are found quickly (docs/decisions/0320). */
describe('kept totals of usage', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  before(async () => {
    for (const name of ['a', 'b']) await createAccount(tenant, name);
    const services = [await createService(tenant, 'One'), await createService(tenant, 'Two')];
    for (let index = 0; index < 40; index += 1) {
      const day = String(1 + (index % 28)).padStart(2, '0');
      await send(
        tenant,
        usage(index % 3 === 0 ? 'a' : 'b', services[index % 2] ?? '', {
          eventTimestamp: `2026-03-${day}T${String(index % 24).padStart(2, '0')}:59:59.999Z`,
          dimensions: { api_calls: `${index}.5` },
        }),
      );
    }
    await waitUntilRated(tenant, 40);
  });

  const sql = (text: string) =>
    asOwner(instance.databaseUrl, (client) => client.query<{ count: number }>(text, [tenant.id]));
  const countOf = async (table: string) =>
    (await sql(`select count(*)::integer as count from ${table} where tenant_id = $1`)).rows[0]
      ?.count;
  const untilNone = (table: string) =>
    until(async () => (await countOf(table)) === 0, 20_000, `the end of ${table}`);
  const untilMerged = async () => {
    // What waits has waited for long enough.
    await sql(`update usage_change set added_at = added_at - interval '1 minute'
      where tenant_id = $1`);
    await untilNone('usage_change');
  };
  const ask = async (queries = questions) => {
    const answers: unknown[] = [];
    for (const query of queries)
      answers.push((await tenant.get(`/v1/usage?${query}&limit=1000`).expect(200)).body);
    return answers;
  };
  const audit = async () => {
    const data = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const { body } = await tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
    return body.output as {
      differenceCount: number;
      differences: { kind: string; field: string }[];
    };
  };
  const rebuild = () => rebuildProjections({ tenantId: tenant.id, db: tenant.scope.db });

  it('are added up behind rating, and answer what the facts do', async () => {
    const before = await ask();
    await untilMerged();
    expect(await countOf('usage_total')).to.be.greaterThan(40);
    expect(await ask()).to.deep.equal(before);
    expect((await audit()).differenceCount).to.equal(0);
  });

  it('are made again from the facts, and answers are the same before, meanwhile and after', async () => {
    const before = await ask();
    await rebuild();
    expect(await ask()).to.deep.equal(before);
    await untilNone('usage_total_rebuild');
    expect(await countOf('usage_total')).to.be.greaterThan(40);
    expect(await ask()).to.deep.equal(before);
    expect((await audit()).differenceCount).to.equal(0);
  });

  it('that were changed are found by the audit, and made right by a rebuild', async () => {
    await untilMerged();
    // The one event of 9.5 calls at 0.01, on the 10th.
    await sql(`update usage_total set amounts[1] = amounts[1] + 1
      where tenant_id = $1 and grain = 'day' and amounts[1] = 0.095`);
    const { differenceCount, differences } = await audit();
    // The journal is compared with the totals, which have one more than it.
    expect(differenceCount).to.equal(2);
    expect(differences[1]).to.deep.include({ kind: 'journal', recorded: '2.8', computed: '3.8' });
    expect(differences[0]).to.deep.include({
      kind: 'total',
      field: 'amount in USD of 2026-03-10 (day)',
      recorded: '1.095',
      computed: '0.095',
    });
    await rebuild();
    await untilNone('usage_total_rebuild');
    expect((await audit()).differenceCount).to.equal(0);
  });

  it('begin from the facts where an older version has written them', async () => {
    const before = await ask();
    await untilMerged();
    await sql('delete from usage_total where tenant_id = $1');
    await sql('delete from usage_combination_part where tenant_id = $1');
    await sql('delete from usage_combination where tenant_id = $1');
    await sql('insert into usage_total_rebuild (tenant_id) values ($1)');
    expect(await ask()).to.deep.equal(before);
    await untilNone('usage_total_rebuild');
    expect(await ask()).to.deep.equal(before);
    expect((await audit()).differenceCount).to.equal(0);
  });

  it('count what is rated while they are made', async () => {
    const service = await createService(tenant, 'Three');
    for (let round = 1; round <= 5; round += 1) {
      await rebuild();
      await send(tenant, usage('a', service));
      await waitUntilRated(tenant);
      const { body } = await tenant.get('/v1/usage?service=Three').expect(200);
      expect(body.data[0]).to.include({ events: round, quantity: 100 * round, amount: round });
    }
    await untilNone('usage_total_rebuild');
    await untilMerged();
    const { body } = await tenant.get('/v1/usage?service=Three').expect(200);
    expect(body.data[0]).to.include({ events: 5, quantity: 500, amount: 5 });
    expect((await audit()).differenceCount).to.equal(0);
  });

  // spec/beyond.md R22, R23
  it('have each event of a group once, and what its charges are beyond their rows', async () => {
    const both = await createAccount(tenant, 'both');
    const market = await createService(tenant, 'Market', {
      priceableAttributes: [attribute('api_calls'), attribute('gb'), attribute('share')],
      rateCards: [
        usdCard(
          priceOfEach('api_calls', 0.1),
          priceOfEach('gb', 1),
          priceOfEach('share', 0.03, { usageType: 'Payout', billingAccountId: both }),
        ),
      ],
    });
    const step = { name: 'total', label: 'Twice', formula: 'Price(api_calls, api_calls) * 2' };
    const logic = { name: 'Main', priceOutput: 'total', transactionDimension: 'Customer' };
    const doubled = await createService(tenant, 'Doubled', {
      pricingLogic: [{ ...logic, steps: [step] }],
    });
    const dimensions = { api_calls: '100', gb: '2', share: '50' };
    for (const eventTimestamp of [
      '2026-05-01T10:00:00Z',
      '2026-05-01T10:30:00Z',
      '2026-05-02T00:00:00Z',
    ]) {
      await send(tenant, usage('both', market, { eventTimestamp, dimensions }));
      await send(tenant, usage('both', doubled, { eventTimestamp }));
    }
    await waitUntilRated(tenant);
    const before = (await ask(questionsOfCharges)) as { data: { events: number }[] }[];
    const eventsOf = (at: number) => before[at]?.data.map(({ events }) => events);
    expect([0, 1, 6].map(eventsOf)).to.deep.equal([[6], [4, 2], [3, 3]]);
    await untilMerged();
    expect(await ask(questionsOfCharges)).to.deep.equal(before);
    await rebuild();
    expect(await ask(questionsOfCharges)).to.deep.equal(before);
    await untilNone('usage_total_rebuild');
    expect(await ask(questionsOfCharges)).to.deep.equal(before);
  });
});
