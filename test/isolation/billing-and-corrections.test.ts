import { expect } from 'chai';
import pg from 'pg';
import { billAccounts } from '../../src/commands/billing/bill-accounts.js';
import { correctEvent } from '../../src/commands/usage/corrections/correct-event.js';
import { readAmendment } from '../../src/commands/usage/corrections/read-amendment.js';
import { rerateUsage } from '../../src/commands/usage/corrections/rerate-range.js';
import { newId } from '../../src/kernel/id.js';
import type { Scope } from '../../src/kernel/scope.js';
import { StoredRatingPlan } from '../../src/models/usage/plans/rating-plan.js';
import {
  createAccount,
  createService,
  event,
  usage,
  type Message,
} from '../support/billing/usage.js';
import { external, type TestTenant } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';
import { Actor, publish, quiet, rateRecords } from '../support/story/turns.js';

const march = { first: '2026-03-01', last: '2026-03-31' };
const april = { first: '2026-04-01', last: '2026-04-30' };
const reason = 'It was wrong.';

/** C: the correction writes, then commits. B: the run closes the days, sums and claims, then commits. */
const orders = 'CCBBB CBCBB CBBCB CBBBC BCCBB BCBCB BCBBC BBCCB BBCBC BBBCC'.split(' ');

/** What is corrected of 1,000 and 300 calls at 0.01, and what all of it costs then. */
const kinds = {
  cancel: 10,
  'amend to more': 15,
  'amend to less': 12,
  'amend to another month': 13,
  // 0.03 for each.
  rerate: 39,
} as const;
const amended = {
  'amend to more': { dimensions: { api_calls: '500' } },
  'amend to less': { dimensions: { api_calls: '200' } },
  'amend to another month': { eventTimestamp: '2026-04-15T12:00:00Z' },
} as const;
const typed = Object.keys(kinds) as (keyof typeof kinds)[];

/** Every order in which the transactions of a correction and of a billing run may begin and end. */
describe('usage that is corrected while a run bills its days', function () {
  this.timeout(120_000);
  const instance = useInstance();
  let client: pg.Client;
  before(async () => {
    client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
  });
  after(() => client.end());

  const bill = (scope: Scope, period: typeof march, accountId: string) =>
    billAccounts(scope, {
      executionId: newId(),
      period,
      invoiceDate: '2026-05-01',
      accountIds: [accountId],
      isNamed: false,
      isDryRun: false,
    });

  /** The correction of an event, without the workflow that asks for it. */
  const correct = async (
    scope: Scope,
    kind: keyof typeof kinds,
    message: Record<string, unknown>,
  ): Promise<unknown> => {
    const { tenantId, db } = scope;
    const means = {
      run: { workflowId: 'test', runId: newId(), at: new Date() },
      executionId: newId(),
      storePlans: (plans: Parameters<typeof StoredRatingPlan.insertMissing>[2]) =>
        db.transaction((trx) => StoredRatingPlan.insertMissing(trx, tenantId, plans)),
    };
    if (kind === 'rerate') {
      const range = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
      const all = { accountId: null, contractId: null, serviceId: null };
      return rerateUsage(scope, { ...range, ...all, reason, dryRun: false }, means);
    }
    const eventId = String(message['id']);
    if (kind === 'cancel') return correctEvent(scope, { eventId, reason, amended: null }, means);
    const text = JSON.stringify({ ...(message['message'] as object), ...amended[kind] });
    const content = await readAmendment(scope, { eventId, reason, message: text });
    return correctEvent(scope, { eventId, reason, amended: content }, means);
  };

  const sendRated = async (
    tenant: TestTenant,
    serviceId: string,
    more: Message,
  ): Promise<string> => {
    const sent = await publish(tenant, usage('acme', serviceId, more));
    await rateRecords(instance, tenant.scope, sent.at);
    return sent.event;
  };

  const expectBilled = async (tenant: TestTenant, amount: number): Promise<void> => {
    const { rows } = await client.query<{ billed: string; rated: string; twice: number }>(
      `select (select sum(case invoice.invoice_type when 'Credit Note' then -1 else 1 end
             * item.exact_amount)::float8
           from invoice_item as item join invoice
             on invoice.tenant_id = item.tenant_id and invoice.id = item.invoice_id
           where item.tenant_id = $1) as billed,
         (select sum(amount)::float8 from rated_transaction where tenant_id = $1) as rated,
         (select count(*)::integer from (
           select charge from invoice_usage cross join unnest(transaction_ids) as charge
           where tenant_id = $1 group by 1 having count(*) > 1) as more) as twice`,
      [tenant.id],
    );
    expect(rows).to.deep.equal([{ billed: amount, rated: amount, twice: 0 }]);
    const path = '/v1/accounts/acme/next-invoice';
    expect((await tenant.get(path).expect(200)).body.invoices).to.deep.equal([]);
  };

  // spec/beyond.md R144
  for (const isBilled of [false, true]) {
    for (const kind of typed) {
      it(`${kind} of usage that was${isBilled ? '' : ' not'} billed before, in ${orders.length} orders: all is billed once`, async () => {
        for (const order of orders) {
          const tenant = await instance.tenant();
          const { scope } = tenant;
          const accountId = await createAccount(tenant, 'acme');
          const serviceId = await createService(tenant, 'Calls');
          await sendRated(tenant, serviceId, { dimensions: { api_calls: '1000' } });
          const id = await sendRated(tenant, serviceId, { dimensions: { api_calls: '300' } });
          if (isBilled) await bill(scope, march, accountId);
          const message = await event(tenant, id);
          if (kind === 'rerate') {
            const row = { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY' };
            const rows = [{ ...row, unitRate: 0.03 }];
            const card = { currency: 'USD', fromDate: '2026-03-01', rows };
            const path = `${external}/services/${serviceId}/rate-cards/USD/versions`;
            await tenant.post(path, card).expect(201);
          }
          const [correcting, billing] = [new Actor(), new Actor()];
          correcting.do(() =>
            correct(
              correcting.scope(scope, () => true),
              kind,
              message,
            ),
          );
          billing.do(() =>
            bill(
              billing.scope(scope, (transaction) => transaction === 2),
              march,
              accountId,
            ),
          );
          for (const actor of order) {
            (actor === 'C' ? correcting : billing).go();
            await quiet(client, [correcting, billing]);
          }
          await Promise.all([correcting.result, billing.result]);
          // Something that is charged in any case: differences below 0 wait for it.
          const price = kind === 'rerate' ? 3 : 1;
          await sendRated(tenant, serviceId, {
            eventTimestamp: '2026-04-20T12:00:00Z',
            dimensions: { api_calls: '10000' },
          });
          await bill(scope, april, accountId);
          await expectBilled(tenant, kinds[kind] + 100 * price);
        }
      });
    }
  }
});
