import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { tiers } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { KillableProduct } from '../start/killable.js';
import { KilledTenant } from '../start/killed-tenant.js';
import { tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';

const tenantId = 'kill-corrections';
/** How often the product dies with kill -9 while it corrects: DURABILL_KILLS=100 for the long run. */
const kills = Number(process.env['DURABILL_KILLS'] ?? 3);
/** Their correction is to last while it dies so often. */
const events = kills > 10 ? 20_000 : 6_000;
const reason = 'The price was wrong.';
const month = { from: '2026-03-01', to: '2026-04-01' };
const volume = Array.from({ length: events }, (_each, index) => (index % 7) + 1).reduce(
  (sum, one) => sum + one,
);
/** k-3, which is canceled. */
const canceledVolume = 4;
/** 1,000 are free, then 0.02 up to 10,000, then 0.01; with the other price 500 are free, then 0.03 each. */
const priceBefore = (calls: number): number => (9_000 * 2 + (calls - 10_000)) / 100;
const priceAfter = (calls: number): number => ((calls - 500) * 3) / 100;

describe('corrections while the product is killed with -9', function () {
  this.timeout(1_200_000 + kills * 60_000);
  let product: KillableProduct;
  let tenant: KilledTenant;
  before(async () => {
    product = await KillableProduct.start();
    tenant = await KilledTenant.open(product, tenantId);
  });
  after(() => product.close());

  const count = async (): Promise<number> => {
    const [row] = await product.query<{ count: number }>(
      `select count(*)::integer from rated_transaction where tenant_id = '${tenantId}'`,
    );
    return row?.count ?? 0;
  };
  /** What can be seen at any moment: all of each correction or nothing of it, and nothing billed twice. */
  const seen = async () => {
    const [found] = await product.query<{ amount: number; torn: number; twice: number }>(
      `select (select sum(amount)::float8 from rated_transaction where tenant_id = '${tenantId}')
           as amount,
         (select count(*)::integer from rated_transaction as t
          where tenant_id = '${tenantId}' and correction_id is not null and not exists (
            select from usage_correction as known
            where known.tenant_id = t.tenant_id and known.id = t.correction_id)) as torn,
         (select count(*)::integer from (
           select charge from invoice_usage cross join unnest(transaction_ids) as charge
           where tenant_id = '${tenantId}' group by 1 having count(*) > 1) as more) as twice`,
    );
    return found ?? { amount: NaN, torn: NaN, twice: NaN };
  };
  const cancel = (key: string) =>
    product.send(tenant.token, '/v1/usage-events/k-3/cancel', { body: { reason }, key });
  const isCanceled = async (): Promise<boolean> =>
    (await tenant.call<{ status: string }>('/v1/usage-events/k-3')).status === 'canceled';
  /**
   * How many cancels were given up: one whose worker is killed again and again is tried for the ten
   * minutes of a flow, then nothing comes of it.
   */
  const givenUp = async (): Promise<number> => {
    const [row] = await product.query<{ count: number }>(
      `select count(*)::integer from execution where tenant_id = '${tenantId}'
         and workflow = 'cancelUsageEvent' and status = 'timed_out'`,
    );
    return row?.count ?? 0;
  };

  // spec/beyond.md R142, R144; spec/flows.md R36
  it('leaves what one that nobody kills leaves, and bills nothing twice', async () => {
    const serviceId = await tenant.fill({ events, accounts: ['acme'], prefix: 'k' });
    await tenant.call(`${external}/services/${serviceId}/rate-cards/USD/versions`, {
      currency: 'USD',
      fromDate: '2026-03-01',
      rows: [
        { priceDimName: 'api_calls', label: 'API calls', ...tiers([0, 500, 0], [500, null, 0.03]) },
      ],
    });
    const rerating = await tenant.start('rerate-usage', { ...month, reason });
    const billing = await tenant.start('billing-run', {
      periodStart: '2026-03-01',
      periodEnd: '2026-03-31',
    });
    const canceled = cancel('cancel-k-3').catch(() => null);
    const sums = [volume, volume - canceledVolume].flatMap((calls) => [
      priceBefore(calls),
      priceAfter(calls),
    ]);
    for (let kill = 0; kill < kills; kill += 1) {
      await wait(200 + Math.random() * 3_000);
      await product.kill();
      const { amount, ...others } = await seen();
      expect(others, `after kill ${kill + 1}`).to.deep.equal({ torn: 0, twice: 0 });
      expect(amount, `after kill ${kill + 1}`).to.be.oneOf(sums);
      await product.launch();
    }
    await canceled;
    await tenant.ended('rerate-usage', rerating);
    await tenant.ended('billing-run', billing);
    // The same key: what it began goes on, or is done. Another one, where that was given up.
    for (let asked = 1; !(await isCanceled()); asked += 1) {
      const key = asked === 1 ? 'cancel-k-3' : `cancel-k-3-${asked}`;
      await cancel(key);
      const isOver = async () => (await isCanceled()) || (await givenUp()) >= asked;
      await until(isOver, 700_000, 'the cancel');
    }
    const corrections = await tenant.call<{ pagination: { total: number } }>('/v1/corrections');
    expect(corrections.pagination.total).to.equal(2);
    // 500 are free, then 0.03 each.
    const amount = priceAfter(volume - canceledVolume);
    expect(await seen()).to.deep.equal({ amount, torn: 0, twice: 0 });
    const { data } = await tenant.call<{ data: { amount: number; quantity: number }[] }>(
      '/v1/usage',
    );
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ amount, quantity: volume - canceledVolume });
    const again = await tenant.execute('rerate-usage', { ...month, reason, dryRun: true });
    expect(again.output).to.include({ events: events - 1, changed: 0 });
    // It takes longer than an answer is waited for.
    const auditing = await tenant.start('audit-usage', {
      periodStart: '2026-03-01',
      periodEnd: '2026-03-31',
    });
    const audit = await tenant.ended('audit-usage', auditing);
    expect(audit['differences']).to.deep.equal([]);
    const last = await tenant.start('billing-run', {
      periodStart: '2026-03-01',
      periodEnd: '2026-03-31',
    });
    await tenant.ended('billing-run', last);
    const [billed] = await product.query<{ billed: string }>(
      `select trim_scale(sum(case invoice_type when 'Credit Note' then -amount else amount end))::text
         as billed
       from invoice where tenant_id = '${tenantId}' and invoice_status = 'Posted'`,
    );
    const { twice } = await seen();
    tellFigures({ kills, events, charges: await count(), ...billed, twice });
    expect(twice).to.equal(0);
    // Negative differences wait while nothing else is to be billed: the cancel may be one.
    const waiting = await tenant.call<{ invoices: { amount: number }[] }>(
      `/v1/accounts/acme/next-invoice`,
    );
    expect(waiting.invoices).to.deep.equal([]);
    expect(Number(billed?.billed)).to.be.within(amount, amount + 0.12);
  });
});
