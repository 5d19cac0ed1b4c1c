import { expect } from 'chai';
import fc from 'fast-check';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { invoicesOf, runBilling, type BilledInvoice } from '../support/billing/billing-run.js';
import { external, type TestTenant } from '../support/servers/instance.js';
import { createAccount, send, tiers, usage, waitUntilRated } from '../support/billing/usage.js';
import { useInstance } from '../support/servers/use-instance.js';

const rate = fc.integer({ min: 0, max: 99_999 }).map((units) => units / 10_000);
const frequency = fc.constantFrom('Weekly', 'Monthly', 'Quarterly', 'Yearly');
const day = fc
  .integer({ min: 0, max: 120 })
  .map((days) => new Date(Date.UTC(2028, 0, 1 + days)).toISOString().slice(0, 10));

const prices = fc.oneof(
  rate.map((unitRate) => ({ priceMethod: 'QUANTITY', unitRate })),
  rate.map((flatRate) => ({ priceMethod: 'FLAT_RATE', flatRate })),
  rate.map((percentageRate) => ({ priceMethod: 'AMOUNT', percentageRate })),
  fc.tuple(rate, rate).map(([low, high]) => tiers([0, 10, low], [10, null, high])),
);

const service = fc.record({
  serviceType: fc.constantFrom('Usage', 'Subscription', 'OTC'),
  priceableAttributes: fc.record({ isProration: fc.boolean(), isMeterDimension: fc.boolean() }),
  prices,
  usageType: fc.constantFrom('Charge', 'Payout'),
  taxCode: fc.constantFrom('FULL', 'NONE'),
  hasLogic: fc.boolean(),
});

const line = fc.record({
  service: fc.nat(2),
  startDate: day,
  terminationDate: fc.option(day, { nil: null }),
  chargeFrequency: frequency,
  billingFrequency: frequency,
});

const world = fc.record({
  services: fc.array(service, { minLength: 3, maxLength: 3 }),
  accounts: fc.array(fc.array(line, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  events: fc.array(fc.record({ account: fc.nat(2), service: fc.nat(2), day, units: fc.nat(50) }), {
    minLength: 1,
    maxLength: 12,
  }),
  until: day,
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

async function build(tenant: TestTenant, { services, accounts, events }: World): Promise<void> {
  await tenant.post('/v1/tax-rates', { code: 'FULL', rate: 19.25 }).expect(201);
  const ids: string[] = [];
  for (const [index, each] of services.entries()) {
    const { serviceType, priceableAttributes, usageType, taxCode, hasLogic } = each;
    const logic = {
      name: 'Double',
      priceOutput: 'total',
      transactionDimension: 'Who',
      chargeType: 'All',
      steps: [{ name: 'total', formula: '2 * Price(units, units) / 3' }],
    };
    const { body } = await tenant
      .post(`${external}/services`, {
        name: `Service ${index}`,
        currency: 'USD',
        serviceType,
        priceableAttributes: [
          { name: 'units', dimensionDataType: 'Number', ...priceableAttributes },
        ],
        rateCards: [
          {
            currency: 'USD',
            rows: [{ priceDimName: 'units', label: 'Units', usageType, taxCode, ...each.prices }],
          },
        ],
        ...(hasLogic ? { pricingLogic: [logic] } : {}),
      })
      .expect(201);
    ids.push(body.id as string);
  }
  for (const [index, lines] of accounts.entries()) {
    const masterAccountId = await createAccount(tenant, `account ${index}`);
    const made = lines.map(({ service: chosen, terminationDate, startDate, ...terms }) => ({
      ...terms,
      serviceId: ids[chosen],
      startDate,
      ...(terminationDate !== null && terminationDate >= startDate ? { terminationDate } : {}),
    }));
    await tenant.post(`${external}/contracts`, { masterAccountId, services: made }).expect(201);
  }
  const messages = events.map((event) =>
    usage(`account ${event.account % accounts.length}`, ids[event.service] ?? '', {
      eventTimestamp: `${event.day}T12:00:00Z`,
      dimensions: { units: String(event.units) },
    }),
  );
  await send(tenant, ...messages);
  await waitUntilRated(tenant, messages.length);
}

/** Everything but ids, numbers and files, and what tells drafts from what was posted. */
const content = (invoices: readonly BilledInvoice[]) =>
  invoices
    .map((invoice) => ({
      ...invoice,
      id: '',
      invoiceNo: '',
      invoiceFileName: null,
      executionId: null,
      invoiceStatus: '',
      approvalStatus: '',
      items: invoice.items.map((item) => ({ ...item, id: '', invoiceId: '' })),
    }))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

const keyOf = ({ accountId, invoiceType }: BilledInvoice): string => `${accountId}${invoiceType}`;

describe('a dry run of any catalog', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });

  // spec/flows.md R35
  it('shows what the run then posts; items add up to the sums of what was rated', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const tenant = await instance.tenant();
        await build(tenant, given);
        const dry = await runBilling(tenant, '2028-01-01', given.until, { dryRun: true });
        const run = await runBilling(tenant, '2028-01-01', given.until);
        const posted = await invoicesOf(tenant, run);
        expect(content(posted)).to.deep.equal(content(dry.invoices ?? []));
        expect(run.problems).to.deep.equal(dry.problems);
        const { rows } = await tenant.scope.db.read.raw<{
          rows: { rated: string | null; exact: string | null }[];
        }>(
          `select (select sum(amount) from rated_transaction where id in (
               select unnest(transaction_ids) from invoice_usage
             )) as rated,
             (select sum(exact_amount) from invoice_item where charge_type = 'Usage') as exact`,
        );
        const [sums] = rows;
        expect(new Decimal(sums?.exact ?? 0).eq(sums?.rated ?? 0)).to.equal(true);
        const again = await runBilling(tenant, '2028-01-01', given.until);
        expect(again.invoiceCount).to.equal(0);
      }),
      { numRuns: 12 },
    );
  }).timeout(300_000);
});
