import type { Knex } from 'knex';
import { Decimal, sum, ZERO } from '../../../kernel/numbers/money.js';
import { WalletEntry } from '../../../models/balances/wallet-entry.js';
import type { GrantPart } from '../../balances/wallet-ledger.js';
import type { PeriodItem, Uncredited } from './bill-periods.js';
import type { PeriodCharge } from './period-charges.js';

/** What grants have paid of earlier top-ups of a period, and got back of them, the last first. */
export type TopUpCredits = ReadonlyMap<PeriodCharge, readonly GrantPart[]>;

/** Of the periods whose minimum or commitment this run takes something off again. */
export async function readTopUpCredits(
  trx: Knex.Transaction,
  tenantId: string,
  items: readonly PeriodItem[],
): Promise<TopUpCredits> {
  const lowered = [...new Set(items.map(({ charge }) => charge))].filter(
    ({ adjustment, amount }) => adjustment.kind !== 'maximum' && amount.isNegative(),
  );
  const ids = lowered.flatMap(({ earlier }) => earlier.map(({ id }) => id));
  const found = ids.length === 0 ? [] : await WalletEntry.credits(trx, tenantId, ids);
  const parts = found.map(({ chargeId, grantId, walletId, amount }) => ({
    chargeId,
    part: { grantId, walletId, amount: new Decimal(amount) },
  }));
  return new Map(
    lowered.map((charge) => {
      const own = charge.earlier.flatMap(({ id }) =>
        parts.filter(({ chargeId }) => chargeId === id).map(({ part }) => part),
      );
      return [charge, own.reverse()];
    }),
  );
}

/**
 * What grants have paid of a period and its top-up beyond what both come to now (spec/beyond.md R388).
 * `paidNow` is what they pay of its recurring charges of this run.
 */
export function uncreditedTopUp(
  charge: PeriodCharge,
  credits: TopUpCredits,
  paidNow: Decimal,
): Uncredited {
  const { amount, earlier, spent } = charge;
  const live = earlier.filter(({ voidedAt }) => voidedAt === null);
  const ofTopUp = sum((credits.get(charge) ?? []).map((part) => Decimal.max(part.amount, ZERO)));
  const left = Decimal.max(sum(live.map((row) => new Decimal(row.amount))).plus(amount), ZERO);
  const paid = sum([ofTopUp, charge.paid, paidNow]);
  const surplus = Decimal.max(paid.minus(Decimal.max(spent, ZERO)).minus(left), ZERO);
  const withinAmount = (open: Decimal): Decimal =>
    Decimal.min(Decimal.max(open, ZERO), amount.negated());
  return {
    onInvoice: withinAmount(surplus.minus(sum(live.map((row) => new Decimal(row.uncredited))))),
    returned: withinAmount(surplus.minus(sum(earlier.map((row) => new Decimal(row.returned))))),
  };
}

/** The grants that paid a top-up, each with what it has not got back. */
export function topUpPayers(credits: readonly GrantPart[]): GrantPart[] {
  const byGrant = new Map<string, GrantPart>();
  for (const part of credits) {
    const known = byGrant.get(part.grantId);
    const amount = known ? known.amount.plus(part.amount) : part.amount;
    byGrant.set(part.grantId, { ...part, amount });
  }
  return [...byGrant.values()].filter(({ amount }) => amount.greaterThan(ZERO));
}
