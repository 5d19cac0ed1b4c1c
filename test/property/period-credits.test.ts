import { expect } from 'chai';
import fc from 'fast-check';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { usage } from '../support/billing/usage.js';
import { addGrant, createWallet } from '../support/billing/wallets.js';
import { attribute, meteredByMonth, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** A history is a dozen billing runs: DURABILL_HISTORIES=24 for the long run. */
const histories = Number(process.env['DURABILL_HISTORIES'] ?? 12);

const months = ['2026-10', '2026-11', '2026-12'] as const;
const month = fc.constantFrom(...months);

/** What happens to an account whose periods are adjusted; `of` chooses one of what is there. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      month,
      count: fc.integer({ min: 0, max: 120 }),
      service: fc.nat(1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), of: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      amount: fc.integer({ min: 1, max: 200 }),
      lasts: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
      isOfOne: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('bill' as const), month }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('void' as const), of: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('day' as const) }) },
);

const adjustments = fc.uniqueArray(
  fc.record({
    kind: fc.constantFrom('maximum', 'minimum', 'commitment'),
    period: fc.constantFrom('Weekly', 'Monthly', 'Quarterly'),
    isOfOne: fc.boolean(),
    value: fc.integer({ min: 20, max: 150 }),
  }),
  {
    minLength: 1,
    maxLength: 4,
    selector: ({ kind, period, isOfOne }) => `${kind}${period}${isOfOne}`,
  },
);

const history = fc.record({
  adjustments: adjustments.filter(
    (agreed) =>
      !agreed.some((one) =>
        agreed.some(
          (other) =>
            one.kind !== 'maximum' &&
            other.kind === 'maximum' &&
            other.period === one.period &&
            other.isOfOne === one.isOfOne &&
            other.value < one.value,
        ),
      ),
  ),
  steps: fc.array(step, { minLength: 12, maxLength: 22 }),
});

const dayText = (day: number): string => `2027-01-${String(day).padStart(2, '0')}`;

describe('property: what grants have paid of periods that are adjusted', () => {
  const story = useStory({ forEachTest: true, startsOn: dayText(2) });
  const { tenant } = story;

  /** What invoices that are not void come to, all charges of the account, and what grants have paid of them. */
  const figures = async () => {
    const [row] = await sqlRows<{ owed: string; charged: string; paid: string }>(
      tenant.scope.db.read,
      `select (
         select coalesce(sum(case when invoice_type = 'Credit Note' then -amount else amount end), 0)
         from invoice where tenant_id = :id and invoice_status <> 'Void'
       ) as owed, (
         select coalesce(sum(amount), 0) from (
           select amount from rated_transaction where tenant_id = :id
           union all
           select amount from adjustment_charge where tenant_id = :id and voided_at is null
         ) as charge
       ) as charged, (
         select coalesce(-sum(amount), 0) from wallet_entry
         where tenant_id = :id and charge_id is not null
       ) as paid`,
      { id: tenant.id },
    );
    return { owed: Number(row?.owed), charged: Number(row?.charged), paid: Number(row?.paid) };
  };
  /** What grants were given, and what they have paid and lost. */
  const grants = async () => {
    const [row] = await sqlRows<{ given: string; used: string }>(
      tenant.scope.db.read,
      `select coalesce(sum(amount) filter (where kind = 'grant'), 0) as given,
         coalesce(-sum(amount) filter (where kind <> 'grant'), 0) as used
       from wallet_entry where tenant_id = ?`,
      [tenant.id],
    );
    return { given: Number(row?.given), used: Number(row?.used) };
  };
  const check = async (id: string): Promise<void> => {
    for (const { description, matches } of (await story.explain(id)).items) {
      expect(matches, description).to.equal(true);
    }
  };

  // spec/beyond.md R290, R388, R389
  for (const [index, { adjustments: agreed, steps }] of fc
    .sample(history, { numRuns: histories, seed: 23 })
    .entries()) {
    it(`bill what the periods come to, less what grants have paid of it (${index})`, async () => {
      let day = 2;
      story.travelTo(dayText(day));
      const accountId = await story.account('acme');
      const services = [
        await story.service('Calls', {
          priceableAttributes: [attribute('units')],
          rateCards: [usdCard(priceOfEach('units', 1))],
        }),
        await story.service('Seats', {
          priceableAttributes: [attribute('units', { ...meteredByMonth, aggregation: 'LAST' })],
          rateCards: [usdCard(priceOfEach('units', 1))],
        }),
      ];
      for (const { isOfOne, ...adjustment } of agreed) {
        const body = { accountId, currency: 'USD', from: '2026-10-01', to: '2027-01-01' };
        const of = isOfOne ? { serviceId: services[0] } : {};
        await tenant.post('/v1/adjustments', { ...body, ...of, ...adjustment }).expect(201);
      }
      const walletId = await createWallet(tenant, accountId);
      await addGrant(tenant, walletId, 'first', 60);
      const events: string[] = [];
      const invoices: string[] = [];
      const bill = async (period: string): Promise<void> => {
        for (const { id } of (await story.bill(period)).invoices) {
          invoices.push(id);
          await check(id);
        }
      };
      for (const [number, one] of steps.entries()) {
        if (one.kind === 'send') {
          const message = usage('acme', services[one.service] ?? '', {
            externalTransactionId: `e-${number}`,
            eventTimestamp: `${one.month}-15T12:00:00Z`,
            dimensions: { units: String(one.count) },
          });
          await story.send(message);
          events.push(`e-${number}`);
        } else if (one.kind === 'grant') {
          await addGrant(tenant, walletId, `g-${number}`, one.amount, {
            kind: 'promotional',
            ...(one.lasts === null ? {} : { expiresAt: dayText(day + one.lasts) }),
            ...(one.isOfOne ? { serviceIds: [services[1]] } : {}),
          });
        } else if (one.kind === 'bill') await bill(one.month);
        else if (one.kind === 'day') story.travelTo(dayText((day += 1)));
        else if (one.kind === 'cancel') {
          const [chosen] = events.splice(one.of % Math.max(1, events.length), 1);
          if (chosen === undefined) continue;
          const path = `/v1/usage-events/${chosen}/cancel`;
          await tenant.post(path, { reason: 'A test.' }).expect(200);
        } else {
          const [chosen] = invoices.splice(one.of % Math.max(1, invoices.length), 1);
          // One that a later credit note lowers, or that is one, may be refused.
          if (chosen !== undefined) await tenant.post(`/v1/invoices/${chosen}/void`);
        }
      }
      // In the end all is billed, and what late usage changes of it by the last run; what alone would be a
      // credit note waits for an invoice.
      const last = { externalTransactionId: 'last', eventTimestamp: '2027-01-01T12:00:00Z' };
      await story.send(
        usage('acme', services[0] ?? '', { ...last, dimensions: { units: '1000' } }),
      );
      for (const period of [...months, '2027-01']) await bill(period);
      const { owed, charged, paid } = await figures();
      expect(owed, `${charged} less ${paid}`).to.equal(charged - paid);
      expect(owed, `${charged} less ${paid}`).to.be.at.least(0);
      const { given, used } = await grants();
      expect(used, `of ${given}`).to.be.within(0, given);
      expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    });
  }
});
