import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import {
  counterUsageKey,
  findCounted,
  findOverpaid,
  type CounterReversal,
  type CounterUsage,
} from '../../models/balances/counter-charge.js';
import { WalletEntry, type ChargeCredit } from '../../models/balances/wallet-entry.js';
import { writeTogether } from '../../models/db/bulk-table.js';
import type { RatedTransaction } from '../../models/usage/rated-transaction.js';
import { CounterCredits } from './counter-credits.js';
import { WalletLedger } from './wallet-ledger.js';

/** A charge of usage that is taken back, and the reversal that does it. */
export interface ReversedCharge {
  readonly id: string;
  readonly of: string;
  readonly charge: RatedTransaction;
}

/** The usage that a stored charge is of; null where no counter meters it. */
export function usageOf({
  accountId,
  currency,
  dimensions,
}: RatedTransaction): CounterUsage | null {
  const metered = dimensions.find(({ counterId }) => counterId !== null);
  return metered?.counterId ? { counterId: metered.counterId, accountId, currency } : null;
}

/**
 * The reversal of a charge below 0 takes back what grants got for it, as far as that is still there (spec/beyond.md
 * R387); the rest is billed. Before anything is put back, so that nothing is put back twice.
 */
export async function takeReturned(
  trx: Knex.Transaction,
  scope: Scope,
  reversed: readonly ReversedCharge[],
): Promise<void> {
  const opened = await openReversed(trx, scope, reversed);
  if (!opened) return;
  const { ledger, counters, credits, usages } = opened;
  for (const { of, under, part } of credits) {
    if (!part.amount.isNegative()) continue;
    const taken = ledger.takeBack([{ ...part, amount: part.amount.negated() }], under);
    const usage = usages.get(of);
    if (usage) counters.draw(usage, taken);
  }
  await writeTogether(trx, counters.writing(scope.tenantId));
  await ledger.write();
}

/**
 * A reversal puts back what its charge drew (R280), of metered usage at most what charges below 0 have not
 * put back before. What has expired or was revoked meanwhile stays so.
 */
export async function returnReversed(
  trx: Knex.Transaction,
  scope: Scope,
  reversed: readonly ReversedCharge[],
): Promise<void> {
  const opened = await openReversed(trx, scope, reversed);
  if (!opened) return;
  const { ledger, counters, credits, usages } = opened;
  for (const { of, under, part } of credits) {
    const usage = usages.get(of);
    const parts = usage ? counters.partsOf(usage, part.amount, ledger, part.grantId) : [part];
    ledger.giveBack(parts, under);
    if (usage) counters.draw(usage, parts, -1);
  }
  for (const reversal of usages.values()) {
    counters.charge(reversal, reversal.amount.negated(), reversal.knownAt);
  }
  await writeTogether(trx, counters.writing(scope.tenantId));
  await ledger.write();
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
  const counters = new CounterCredits();
  let found: readonly ChargeCredit[] = [];
  let usages: ReadonlyMap<string, CounterReversal> = new Map();
  const ledger = await openLedger(trx, scope, reversed, async () => {
    found = await WalletEntry.credits(trx, tenantId, [...under.keys()]);
    usages = await findUsages(trx, tenantId, reversed);
    await counters.read(trx, tenantId, [...usages.values()]);
    return [...found.map(({ grantId }) => grantId), ...counters.grantIds];
  });
  if (!ledger) return undefined;
  const credits = found.map(({ chargeId: of, grantId, walletId, amount }) => ({
    of,
    under: under.get(of) ?? of,
    part: { grantId, walletId, amount: new Decimal(amount) },
  }));
  return { ledger, counters, credits, usages };
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

/** The usage of reversed charges that are in what their counters come to, by the id of the charge. */
async function findUsages(
  trx: Knex.Transaction,
  tenantId: string,
  reversed: readonly ReversedCharge[],
): Promise<ReadonlyMap<string, CounterReversal>> {
  const asked = new Map<CounterReversal, string>();
  for (const { charge } of reversed) {
    const usage = usageOf(charge);
    if (!usage || charge.usageType !== 'Charge') continue;
    const { id, amount, ratedAt: knownAt } = charge;
    asked.set({ ...usage, amount: new Decimal(amount), knownAt }, id);
  }
  const counted = await findCounted(trx, tenantId, [...asked.keys()]);
  return new Map([...counted].map((reversal) => [asked.get(reversal) ?? '', reversal]));
}

/**
 * Where grants have paid more for the usage of a counter than it comes to after a correction, the rest goes
 * back under the reversals: part of what these charged had been billed.
 */
export async function returnOverpaid(
  trx: Knex.Transaction,
  scope: Scope,
  reversed: readonly ReversedCharge[],
): Promise<void> {
  const { tenantId } = scope;
  const usages = new Map<ReversedCharge, CounterUsage>();
  for (const one of reversed) {
    const usage = usageOf(one.charge);
    if (usage && new Decimal(one.charge.amount).greaterThan(ZERO)) usages.set(one, usage);
  }
  const asked = new Map([...usages.values()].map((usage) => [counterUsageKey(usage), usage]));
  const overpaid = await findOverpaid(trx, tenantId, [...asked.values()]);
  if (overpaid.length === 0) return;
  const keys = new Set(overpaid.map(counterUsageKey));
  const under = [...usages].filter(([, usage]) => keys.has(counterUsageKey(usage)));
  const counters = new CounterCredits();
  const ledger = await openLedger(
    trx,
    scope,
    under.map(([one]) => one),
    async () => {
      await counters.read(trx, tenantId, overpaid);
      return counters.grantIds;
    },
  );
  if (!ledger) return;
  const ids = under.map(([{ id }]) => id);
  const returned = new Map<string, Decimal>();
  for (const { chargeId, amount } of await WalletEntry.credits(trx, tenantId, ids)) {
    returned.set(chargeId, (returned.get(chargeId) ?? ZERO).plus(amount));
  }
  for (const [{ id, charge }, usage] of under) {
    // What was returned is below zero.
    const left = new Decimal(charge.amount).plus(returned.get(id) ?? ZERO);
    const back = Decimal.min(left, counters.surplusOf(usage));
    const parts = counters.partsOf(usage, back, ledger);
    ledger.giveBack(parts, id);
    counters.draw(usage, parts, -1);
  }
  await writeTogether(trx, counters.writing(tenantId));
  await ledger.write();
}
