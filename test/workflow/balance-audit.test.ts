import { expect } from 'chai';
import { dayBefore, utcDate } from '../../src/kernel/time/date.js';
import { periodOf } from '../../src/kernel/time/period.js';
import type { UsageDifference } from '../../src/messages/usage/usage-audit.js';
import { asOwner } from '../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';
import { createWallet } from '../support/billing/wallets.js';

const last = dayBefore(periodOf('Monthly', utcDate(new Date())).start);

describe('an audit of what accounts have spent', () => {
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);
  let accountId: string;
  let walletId: string;
  let alertIds: Record<string, string>;

  const audit = async () => {
    const data = { periodStart: periodOf('Monthly', last).start, periodEnd: last };
    const { body } = await tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return (body.output.differences as UsageDifference[])
      .map(({ kind, field, recorded, computed, ownerId }) => [
        kind,
        field,
        recorded,
        computed,
        ownerId,
      ])
      .sort();
  };
  /** As somebody would who has the database. */
  const change = (sql: string, ...values: string[]) =>
    asOwner(instance.databaseUrl, async (client) => {
      const { rowCount } = await client.query(sql, [tenant.id, ...values]);
      expect(rowCount).to.equal(1);
    });

  before(async () => {
    accountId = await createAccount(tenant, 'acme');
    await createAccount(tenant, 'other');
    const serviceId = await createService(tenant, 'Calls');
    walletId = await createWallet(tenant, accountId, { balance: 10 });
    const alerts = {
      Own: { accountId, measure: 'spend', period: 'Monthly' },
      Each: { measure: 'spend', period: 'Yearly' },
      Calls: {
        accountId,
        measure: 'quantity',
        period: 'Lifetime',
        serviceId,
        attribute: 'api_calls',
      },
      Low: { measure: 'balance', period: 'Monthly', walletId },
    };
    alertIds = {};
    for (const [name, alert] of Object.entries(alerts)) {
      const body = { name, thresholds: [3], ...alert };
      alertIds[name] = (await tenant.post('/v1/alerts', body).expect(201)).body.id as string;
    }
    const at = { eventTimestamp: new Date().toISOString() };
    const calls = (count: number, ref = 'acme') =>
      usage(ref, serviceId, { ...at, dimensions: { api_calls: String(count) } });
    // 2.00, 3.00 and 1.00 of acme, of which the last is canceled; 4.00 of the other.
    const ids = await send(tenant, calls(200), calls(300), calls(100), calls(400, 'other'));
    await waitUntilRated(tenant, 4);
    const canceled = `/v1/usage-events/${ids[2] ?? ''}/cancel`;
    await tenant.post(canceled, { reason: 'never happened' }).expect(200);
    const { body } = await tenant.get(`/v1/accounts/${accountId}/balance`).expect(200);
    expect([body.balance, body.spent.amount]).to.deep.equal([5, 5]);
  });

  // spec/beyond.md R319
  it('finds nothing where charges, cancellations and draws have moved the figures', async () => {
    expect(await audit()).to.deep.equal([]);
  });

  for (const [name, field, recorded, computed, ownerOf] of [
    ['Own', "spend in USD of 'Own'", '6', '5', () => accountId],
    ['Calls', "quantity of 'Calls'", '501', '500', () => accountId],
    ['Low', "balance in USD of 'Low'", '6', '5', () => walletId],
  ] as const) {
    it(`names a figure that is wrong: ${field}`, async () => {
      const sql =
        'update alert_figure set value = value + $3::numeric where tenant_id = $1 and alert_id = $2';
      await change(sql, alertIds[name] ?? '', '1');
      expect(await audit()).to.deep.equal([['alert', field, recorded, computed, ownerOf()]]);
      await change(sql, alertIds[name] ?? '', '-1');
      expect(await audit()).to.deep.equal([]);
    });
  }

  it('names a wrong `spent` of the running month: the journal and the alerts have it right', async () => {
    const until = Date.now() + 20_000;
    const waiting = () =>
      asOwner(instance.databaseUrl, async (client) => {
        const sql = 'select from usage_change where tenant_id = $1';
        return (await client.query(sql, [tenant.id])).rowCount;
      });
    while ((await waiting()) !== 0) expect(Date.now()).to.be.below(until);
    const sql = `update usage_total set amounts[1] = amounts[1] + $3::numeric
      where tenant_id = $1 and grain = 'day' and combination_id in (
        select combination_id from usage_combination_part
        where tenant_id = $1 and account_id = $2 and position = 1)`;
    await change(sql, accountId, '2');
    const { body } = await tenant.get(`/v1/accounts/${accountId}/balance`).expect(200);
    expect(body.spent.amount).to.equal(7);
    expect(await audit()).to.deep.equal([
      ['alert', "spend in USD of 'Each'", '5', '7', accountId],
      ['alert', "spend in USD of 'Own'", '5', '7', accountId],
      ['journal', 'unbilled in USD', '0', '2', accountId],
    ]);
    await change(sql, accountId, '-2');
    expect(await audit()).to.deep.equal([]);
  });
});
