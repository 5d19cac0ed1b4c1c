import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { eachInPortions } from '../../kernel/portions.js';
import type { Scope } from '../../kernel/scope.js';
import {
  meterUsageKey,
  findCounted,
  findOverpaid,
  type MeterReversal,
  type MeterUsage,
} from '../../models/balances/meter-charge.js';
import { WalletEntry, type ChargeCredit } from '../../models/balances/wallet-entry.js';
import { writeTogether } from '../../models/db/bulk-table.js';
import type { RatedTransaction } from '../../models/usage/rated-transaction.js';
import type { BalanceChanges } from './balance-changes.js';
import { MeterCredits } from './meter-credits.js';
import { readMeterUsages } from './meter-usage.js';
import { WalletLedger } from './wallet-ledger.js';

/** A charge of usage that is taken back, and the reversal that does it. */
export interface ReversedCharge {
  readonly id: string;
  readonly of: string;
  readonly charge: RatedTransaction;
}

/** The counter of the first metered row of a stored charge. */
export const counterOfStored = ({ dimensions }: RatedTransaction): string | null =>
  dimensions.find(({ counterId }) => counterId !== null)?.counterId ?? null;

/**
 * The reversal of a charge below 0 takes back what grants got for it, as far as that is still there
 * (spec/beyond.md R387); the rest is billed. Before anything is put back, so that nothing is put back twice.
 */
export async function takeReturned(
  trx: Knex.Transaction,
  scope: Scope,
  reversed: readonly ReversedCharge[],
  changes: BalanceChanges,
): Promise<void> {
  const opened = await openReversed(trx, scope, reversed);
  if (!opened) return;
  const { ledger, credits, paid, usages } = opened;
  await eachInPortions(paid, ({ of, under, part }) => {
    if (!part.amount.isNegative()) return;
    const taken = ledger.takeBack([{ ...part, amount: part.amount.negated() }], under);
    const usage = usages.get(of);
    if (usage) credits.draw(usage, taken);
  });
  await writeTogether(trx, credits.writing(scope.tenantId));
  await ledger.write(changes);
}

/**
 * A reversal puts back what its charge drew (R280), of metered usage at most what charges below 0 have not
 * put back before. What has expired or was revoked meanwhile stays so. Returns the usage of the charges.
 */
export async function returnReversed(
  trx: Knex.Transaction,
  scope: Scope,
  reversed: readonly ReversedCharge[],
  changes: BalanceChanges,
): Promise<MeterUsage[]> {
  const opened = await openReversed(trx, scope, reversed);
  if (!opened) return [];
  const { ledger, credits, paid, usages } = opened;
  await eachInPortions(paid, ({ of, under, part }) => {
    const usage = usages.get(of);
    const parts = usage ? credits.partsOf(usage, part.amount, ledger, part.grantId) : [part];
    ledger.giveBack(parts, under);
    if (usage) credits.draw(usage, parts, -1);
  });
  for (const reversal of usages.values()) {
    credits.charge(reversal, reversal.amount.negated(), reversal.knownAt);
  }
  await writeTogether(trx, credits.writing(scope.tenantId));
  await ledger.write(changes);
  return [...usages.values()];
}

/**
 * Locks the wallets of reversed charges: with what grants have paid of each, and the usage of those that
 * are in what their counters come to.
 */
async function openReversed(
  trx: Knex.Transaction,
  scope: Scope,
  reversed: readonly ReversedCharge[],
) {
  if (reversed.length === 0) return undefined;
  const { tenantId } = scope;
  const under = new Map(reversed.map(({ id, of }) => [of, id]));
  const credits = new MeterCredits();
  let found: readonly ChargeCredit[] = [];
  let usages: ReadonlyMap<string, MeterReversal> = new Map();
  const ledger = await openLedger(trx, scope, reversed, async () => {
    found = await WalletEntry.credits(trx, tenantId, [...under.keys()]);
    usages = await findUsages(trx, tenantId, reversed);
    await credits.read(trx, tenantId, [...usages.values()]);
    return [...found.map(({ grantId }) => grantId), ...credits.grantIds];
  });
  if (!ledger) return undefined;
  const paid = found.map(({ chargeId: of, grantId, walletId, amount }) => ({
    of,
    under: under.get(of) ?? of,
    part: { grantId, walletId, amount: new Decimal(amount) },
  }));
  return { ledger, credits, paid, usages };
}

const openLedger = (
  trx: Knex.Transaction,
  scope: Scope,
  charges: readonly Pick<ReversedCharge, 'charge'>[],
  alsoOf: () => Promise<readonly string[]>,
) => {
  const accounts = new Map(
    charges.map(({ charge: { accountId, currency } }) => [
      `${accountId}${currency}`,
      { accountId, currency },
    ]),
  );
  return WalletLedger.ofAccounts(trx, scope, [...accounts.values()], 'lock', alsoOf);
};

const usagesOf = (
  trx: Knex.Transaction,
  tenantId: string,
  reversed: readonly ReversedCharge[],
): Promise<ReadonlyMap<RatedTransaction, MeterUsage>> => {
  const charges = reversed.map(({ charge }) => charge);
  const owed = charges.filter(({ usageType }) => usageType === 'Charge');
  return readMeterUsages(trx, tenantId, owed, counterOfStored);
};

/** The usage of reversed charges that are in what their meters come to, by the id of the charge. */
async function findUsages(
  trx: Knex.Transaction,
  tenantId: string,
  reversed: readonly ReversedCharge[],
): Promise<ReadonlyMap<string, MeterReversal>> {
  const asked = new Map<MeterReversal, string>();
  for (const [{ id, amount, ratedAt: knownAt }, usage] of await usagesOf(trx, tenantId, reversed)) {
    asked.set({ ...usage, amount: new Decimal(amount), knownAt }, id);
  }
  const counted = await findCounted(trx, tenantId, [...asked.keys()]);
  return new Map([...counted].map((reversal) => [asked.get(reversal) ?? '', reversal]));
}

/**
 * Where grants have paid more for the usage of a meter than it comes to after a correction, the rest goes
 * back under the reversals: part of what these charged had been billed.
 */
export async function returnOverpaid(
  trx: Knex.Transaction,
  scope: Scope,
  reversed: readonly ReversedCharge[],
  changes: BalanceChanges,
): Promise<void> {
  const { tenantId } = scope;
  const usages = await usagesOf(trx, tenantId, reversed);
  const asked = new Map([...usages.values()].map((usage) => [meterUsageKey(usage), usage]));
  const overpaid = await findOverpaid(trx, tenantId, [...asked.values()]);
  if (overpaid.length === 0) return;
  const keys = new Set(overpaid.map(meterUsageKey));
  const under = reversed.flatMap((one) => {
    const usage = usages.get(one.charge);
    const isOver = usage && keys.has(meterUsageKey(usage)) && Number(one.charge.amount) > 0;
    return isOver ? [{ ...one, usage }] : [];
  });
  const credits = new MeterCredits();
  const ledger = await openLedger(trx, scope, under, async () => {
    await credits.read(trx, tenantId, overpaid);
    return credits.grantIds;
  });
  if (!ledger) return;
  const ids = under.map(({ id }) => id);
  const returned = new Map<string, Decimal>();
  for (const { chargeId, amount } of await WalletEntry.credits(trx, tenantId, ids)) {
    returned.set(chargeId, (returned.get(chargeId) ?? ZERO).plus(amount));
  }
  await eachInPortions(under, ({ id, charge, usage }) => {
    // What was returned is below zero.
    const left = new Decimal(charge.amount).plus(returned.get(id) ?? ZERO);
    const back = Decimal.min(left, credits.surplusOf(usage));
    const parts = credits.partsOf(usage, back, ledger);
    ledger.giveBack(parts, id);
    credits.draw(usage, parts, -1);
  });
  await writeTogether(trx, credits.writing(tenantId));
  await ledger.write(changes);
}
