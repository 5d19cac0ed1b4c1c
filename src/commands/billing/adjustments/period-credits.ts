import type { Knex } from 'knex';
import { Decimal, roundAmount, sum, ZERO } from '../../../kernel/numbers/money.js';
import { WalletEntry } from '../../../models/balances/wallet-entry.js';
import type { GrantPart } from '../../balances/wallet-ledger.js';
import type { PeriodItem, Uncredited } from './bill-periods.js';
import type { PeriodCharge } from './period-charges.js';

/** What grants have paid of what was billed for periods before, below zero what they got back; the last first. */
export type PeriodCredits = ReadonlyMap<PeriodCharge, readonly GrantPart[]>;

export async function readPeriodCredits(
  trx: Knex.Transaction,
  tenantId: string,
  items: readonly PeriodItem[],
): Promise<PeriodCredits> {
  const charges = [...new Set(items.map(({ charge }) => charge))];
  const ids = charges.flatMap(({ earlier }) => earlier.map(({ id }) => id));
  const found = ids.length === 0 ? [] : await WalletEntry.credits(trx, tenantId, ids);
  const byCharge = new Map<string, GrantPart[]>();
  for (const { chargeId, grantId, walletId, amount } of found) {
    const parts = byCharge.get(chargeId) ?? [];
    byCharge.set(chargeId, [...parts, { grantId, walletId, amount: new Decimal(amount) }]);
  }
  return new Map(
    charges.map((charge) => [
      charge,
      charge.earlier.flatMap(({ id }) => byCharge.get(id) ?? []).reverse(),
    ]),
  );
}

/** What grants have drawn for what was billed of a period before, and is not void. */
export const drawnBefore = (charge: PeriodCharge, credits: PeriodCredits): Decimal =>
  sum((credits.get(charge) ?? []).map(({ amount }) => Decimal.max(amount, ZERO)));

/**
 * What grants may pay of an item: all of a top-up, but of what a maximum bills again only what it has given
 * back to them, for the rest lowers what was billed (spec/beyond.md R290).
 */
export function payableAmount({ charge, amount }: PeriodItem, credits: PeriodCredits): Decimal {
  if (charge.adjustment.kind !== 'maximum' || !amount.greaterThan(ZERO)) return amount;
  const returned = sum(charge.earlier.map((row) => new Decimal(row.returned)));
  const open = Decimal.max(returned.minus(drawnBefore(charge, credits)), ZERO);
  if (open.greaterThanOrEqualTo(charge.amount)) return amount;
  return roundAmount(open.times(amount).div(charge.amount));
}

/**
 * What grants have paid of a period and its top-up beyond what both come to now (spec/beyond.md R388).
 * `paidNow` is what they pay of its recurring charges of this run.
 */
export function uncreditedTopUp(
  charge: PeriodCharge,
  credits: PeriodCredits,
  paidNow: Decimal,
): Uncredited {
  const { amount, earlier, spent } = charge;
  const live = earlier.filter(({ voidedAt }) => voidedAt === null);
  const ofTopUp = drawnBefore(charge, credits);
  const left = Decimal.max(sum(live.map((row) => new Decimal(row.amount))).plus(amount), ZERO);
  const paid = sum([ofTopUp, charge.paid, paidNow]);
  const surplus = Decimal.max(paid.minus(Decimal.max(spent, ZERO)).minus(left), ZERO);
  // Nobody gets back more than was paid of the top-up.
  const back = Decimal.min(surplus, ofTopUp);
  const withinAmount = (open: Decimal): Decimal =>
    Decimal.min(Decimal.max(open, ZERO), amount.negated());
  return {
    onInvoice: withinAmount(back.minus(sum(live.map((row) => new Decimal(row.uncredited))))),
    returned: withinAmount(back.minus(sum(earlier.map((row) => new Decimal(row.returned))))),
  };
}

/** The grants that paid what was billed before, each with what it has not got back. */
export function payersBefore(credits: readonly GrantPart[]): GrantPart[] {
  const byGrant = new Map<string, GrantPart>();
  for (const part of credits) {
    const known = byGrant.get(part.grantId);
    const amount = known ? known.amount.plus(part.amount) : part.amount;
    byGrant.set(part.grantId, { ...part, amount });
  }
  return [...byGrant.values()].filter(({ amount }) => amount.greaterThan(ZERO));
}
