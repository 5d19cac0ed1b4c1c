import { expect } from 'chai';
import fc from 'fast-check';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { tiers, usage } from '../support/billing/usage.js';
import { addGrant, createWallet } from '../support/billing/wallets.js';
import { attribute, meteredByMonth, priceOfEach, row, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** What happens to an account whose prices fall; `of` chooses one of what is there. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      count: fc.integer({ min: 1, max: 60 }),
      service: fc.nat(1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), of: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('amend' as const),
      of: fc.nat(),
      count: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      amount: fc.integer({ min: 1, max: 120 }),
      priority: fc.integer({ min: -1, max: 1 }),
      lasts: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('day' as const) }) },
);

const dayText = (day: number): string => `2026-04-${String(day).padStart(2, '0')}`;

describe('property: prices that fall under what grants have paid', () => {
  const story = useStory({ forEachTest: true, startsOn: dayText(2) });
  const { tenant } = story;

  /** What the standing charges of each service come to, and what grants have paid of all its charges. */
  const paidOf = () =>
    sqlRows<{ charged: string; drawn: string }>(
      tenant.scope.db.read,
      `select sum(charge.amount) as charged, coalesce(sum(paid.amount), 0) as drawn
       from rated_transaction as charge left join lateral (
         select -sum(entry.amount) as amount from wallet_entry as entry
         where entry.tenant_id = charge.tenant_id and entry.charge_id = charge.id
       ) as paid on true
       where charge.tenant_id = ? group by charge.service_id`,
      [tenant.id],
    );
  /** What is kept of the same. */
  const keptOf = () =>
    sqlRows<{ charged: string; drawn: string }>(
      tenant.scope.db.read,
      `select sum(own.charged) as charged, sum((
         select coalesce(sum(drawn), 0) from meter_draw as paid
         where paid.tenant_id = own.tenant_id and paid.meter_id = own.meter_id
       )) as drawn
       from meter_charge as own where own.tenant_id = ? group by own.meter_id`,
      [tenant.id],
    );
  const sorted = (rows: readonly { charged: string; drawn: string }[]): string[] =>
    rows
      .map(
        ({ charged, drawn }) =>
          `${new Decimal(charged).toString()} ${new Decimal(drawn).toString()}`,
      )
      .filter((text) => text !== '0 0')
      .sort();

  // spec/beyond.md R386, R387
  for (const [index, steps] of fc
    .sample(fc.array(step, { minLength: 10, maxLength: 20 }), { numRuns: 12, seed: 23 })
    .entries()) {
    it(`never pay more than the usage of a counter comes to (${index})`, async () => {
      let day = 2;
      story.travelTo(dayText(day));
      const accountId = await story.account('acme');
      // The whole volume of a month: 1 each up to 50, 0.50 beyond; seats by what was said last.
      const falling = { ...tiers([0, 50, 1], [50, null, 0.5]), priceMethod: 'VOLUME' };
      const services = [
        await story.service('Calls', {
          priceableAttributes: [attribute('units', meteredByMonth)],
          rateCards: [usdCard(row('units', falling))],
        }),
        await story.service('Seats', {
          priceableAttributes: [attribute('units', { ...meteredByMonth, aggregation: 'LAST' })],
          rateCards: [usdCard(priceOfEach('units', 1))],
        }),
      ];
      const walletId = await createWallet(tenant, accountId);
      // From its first grant on the usage of an account is kept.
      await addGrant(tenant, walletId, 'first', 60);
      const events = new Map<string, number>();
      const messageOf = (id: string, service: number, count: number) =>
        usage('acme', services[service] ?? '', {
          externalTransactionId: id,
          dimensions: { units: String(count) },
        });
      for (const [number, one] of steps.entries()) {
        const ids = [...events.keys()];
        const chosen = 'of' in one ? ids[one.of % ids.length] : undefined;
        const correct = (way: string, body: object) =>
          tenant
            .post(`/v1/usage-events/${chosen}/${way}`, { reason: 'A test.', ...body })
            .expect(200);
        if (one.kind === 'send') {
          events.set(`e-${number}`, one.service);
          await story.send(messageOf(`e-${number}`, one.service, one.count));
        } else if (one.kind === 'grant') {
          const { amount, priority, lasts } = one;
          await addGrant(tenant, walletId, `g-${number}`, amount, {
            kind: 'promotional',
            priority,
            ...(lasts === null ? {} : { expiresAt: dayText(day + lasts) }),
          });
        } else if (one.kind === 'day') story.travelTo(dayText((day += 1)));
        else if (chosen !== undefined) {
          const service = events.get(chosen) ?? 0;
          if (one.kind === 'cancel') {
            events.delete(chosen);
            await correct('cancel', {});
          } else await correct('amend', { message: messageOf(chosen, service, one.count) });
        }
        const paid = await paidOf();
        for (const { charged, drawn } of paid) {
          expect(Number(drawn), `paid of ${charged}`).to.be.within(0, Math.max(0, Number(charged)));
        }
        expect(sorted(await keptOf())).to.deep.equal(sorted(paid));
      }
      const { invoices } = await story.bill('2026-03');
      for (const { invoiceType } of invoices) expect(invoiceType).to.equal('Invoice');
      expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    });
  }
});
