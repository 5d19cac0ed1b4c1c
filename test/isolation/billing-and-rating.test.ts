import { expect } from 'chai';
import pg from 'pg';
import { billAccounts } from '../../src/commands/billing/bill-accounts.js';
import { newId } from '../../src/kernel/id.js';
import type { Scope } from '../../src/kernel/scope.js';
import { executeRun, type RunOutput } from '../support/billing/billing-run.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { createAccount, createService, usage, waitUntilRated } from '../support/billing/usage.js';
import { Actor, publish, quiet, rateRecords } from '../support/story/turns.js';

/** What becomes of usage, by the executions whose posted invoices hold it: every event, once. */
async function billedBy(client: pg.Client, tenantId: string): Promise<[string, string[]][]> {
  const { rows } = await client.query<{ event: string; executions: string[] }>(
    `select t.external_tran_id as event,
       array_remove(array_agg(invoice.execution_id::text), null) as executions
     from rated_transaction as t
     left join invoice_usage as part
       on part.tenant_id = t.tenant_id and t.id = any(part.transaction_ids)
     left join invoice on invoice.tenant_id = part.tenant_id and invoice.id = part.invoice_id
     where t.tenant_id = $1 group by t.id, 1 order by t.id`,
    [tenantId],
  );
  return rows.map(({ event, executions }) => [event, executions]);
}

/** The sum of all items before their rounding, and of all that was rated: cents of 100 calls each. */
async function sums(client: pg.Client, tenantId: string): Promise<unknown> {
  const { rows } = await client.query(
    `select (select trim_scale(sum(exact_amount))::text from invoice_item where tenant_id = $1)
         as billed,
       (select trim_scale(sum(amount))::text from rated_transaction where tenant_id = $1) as rated`,
    [tenantId],
  );
  return rows[0];
}

const march = { first: '2026-03-01', last: '2026-03-31' };
const april = { first: '2026-04-01', last: '2026-04-30' };

/**
 * R: the rating writes, then commits. B: the run closes the days, sums and claims, then commits. The
 * run of March has the usage if that was written before the days were closed, for which the closing
 * then waits, or if it was committed before the sum; else the one of April.
 */
const orders: readonly (readonly [order: string, has: 'this run' | 'the next'])[] = [
  ...['RRBBB', 'RBRBB', 'RBBRB', 'RBBBR', 'BRRBB'].map((order) => [order, 'this run'] as const),
  ...['BRBRB', 'BRBBR', 'BBRRB', 'BBRBR', 'BBBRR'].map((order) => [order, 'the next'] as const),
];

describe('usage that is rated while a run bills its days', () => {
  let instance: TestInstance;
  let client: pg.Client;
  before(async () => {
    instance = await openTestInstance();
    client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await instance.close();
  });

  const rateLog = (scope: Scope, from: ReadonlyMap<number, number>) =>
    rateRecords(instance, scope, from);

  const bill = (scope: Scope, period: typeof march, accountId: string, executionId: string) =>
    billAccounts(scope, {
      executionId,
      period,
      invoiceDate: '2026-05-01',
      accountIds: [accountId],
      isNamed: false,
      isDryRun: false,
    });

  /** Ingests an event, which nobody rates before it is asked for. */
  const ingest = (tenant: TestTenant, serviceId: string) =>
    publish(tenant, usage('acme', serviceId));

  for (const isFirst of [true, false]) {
    for (const [order, expected] of orders) {
      it(`${order}, ${isFirst ? 'the first' : 'a later'} run: is on the invoice of ${expected}`, async () => {
        const tenant = await instance.tenant();
        const accountId = await createAccount(tenant, 'acme');
        const serviceId = await createService(tenant, 'Calls');
        const { scope } = tenant;
        if (!isFirst) {
          await rateLog(scope, (await ingest(tenant, serviceId)).at);
          await bill(scope, march, accountId, newId());
        }
        const early = await ingest(tenant, serviceId);
        await rateLog(scope, early.at);
        const late = await ingest(tenant, serviceId);
        const [first, second] = [newId(), newId()];

        const [rating, billing] = [new Actor(), new Actor()];
        rating.do(() =>
          rateLog(
            rating.scope(scope, () => true),
            late.at,
          ),
        );
        billing.do(() =>
          bill(
            billing.scope(scope, (transaction) => transaction === 2),
            march,
            accountId,
            first,
          ),
        );
        for (const actor of order) {
          (actor === 'R' ? rating : billing).go();
          await quiet(client, [rating, billing]);
        }
        await Promise.all([rating.result, billing.result]);
        await bill(scope, april, accountId, second);

        const billed = new Map(await billedBy(client, tenant.id));
        expect(billed.get(early.event)).to.deep.equal([first]);
        expect(billed.get(late.event)).to.deep.equal([expected === 'this run' ? first : second]);
        // 100 x 0.01 for each of two or three events.
        const count = isFirst ? '2' : '3';
        expect(await sums(client, tenant.id)).to.deep.equal({ billed: count, rated: count });
      });
    }
  }
});

describe('usage that streams in while its month is billed', () => {
  let instance: TestInstance;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());

  const rounds = 8;
  const chunk = 25;

  it('is billed once, by the run of its month or the next', async () => {
    const tenant = await instance.tenant();
    const accounts = ['a', 'b', 'c', 'd'];
    for (const name of accounts) await createAccount(tenant, name);
    const serviceId = await createService(tenant, 'Calls');
    const runs: string[] = [];
    /** The number of the round in which an event was sent. */
    const sentIn = new Map<string, number>();
    const monthOf = (round: number): string => `2027-${String(round + 1).padStart(2, '0')}`;
    const sendChunk = async (round: number): Promise<void> => {
      const messages = Array.from({ length: chunk }, (_none, index) =>
        usage(accounts[index % accounts.length] ?? '', serviceId, {
          eventTimestamp: `${monthOf(round)}-15T12:00:00Z`,
        }),
      );
      for (const message of messages) sentIn.set(String(message.externalTransactionId), round);
      const body = messages.map((message) => ({ message }));
      await tenant.post('/v1/ingest/usage/batch', body).expect(200);
    };
    const runMonth = async (round: number): Promise<void> => {
      const month = monthOf(round);
      const execution = await executeRun(tenant, {
        periodStart: `${month}-01`,
        periodEnd: `${month}-28`,
      });
      expect(execution.status).to.equal('completed');
      // Usage streams in meanwhile: that some is not rated yet is told, and nothing else.
      const { problems } = execution.output as RunOutput;
      expect(problems.filter(({ code }) => code !== 'USAGE_PENDING')).to.deep.equal([]);
      runs.push(execution.executionId as string);
    };
    for (let round = 0; round < rounds; round += 1) {
      await sendChunk(round);
      // What was sent before is being rated; the rest arrives while the run is under way.
      await Promise.all([runMonth(round), sendChunk(round).then(() => sendChunk(round))]);
      await waitUntilRated(tenant, sentIn.size);
    }
    await runMonth(rounds - 1);
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    const billed = await billedBy(client, tenant.id);
    const total = await sums(client, tenant.id);
    await client.end();
    expect(billed).to.have.length(rounds * 3 * chunk);
    for (const [event, executions] of billed) {
      expect(executions, event).to.have.length(1);
      const round = sentIn.get(event) ?? -1;
      const run = runs.indexOf(executions[0] ?? '');
      expect(run === round || run === round + 1, `${event} of ${round} in ${run}`).to.equal(true);
    }
    // 8 x 75 events of 100 x 0.01.
    expect(total).to.deep.equal({ billed: '600', rated: '600' });
  }).timeout(120_000);
});
