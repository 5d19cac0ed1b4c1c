import type { Knex } from 'knex';
import { Decimal, sum, ZERO } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { WalletEntry } from '../../models/balances/wallet-entry.js';
import { WalletLedger } from './wallet-ledger.js';

/** A charge that was just made. */
export interface UnpaidCharge {
  readonly id: string;
  /** The billed account. */
  readonly accountId: string;
  readonly currency: string;
  readonly serviceId: string;
  readonly usageType: string;
  readonly amount: Decimal;
}

/** What grants have paid, by the id of the charge. */
export type PaidCharges = ReadonlyMap<string, Decimal>;

type Origin = Pick<Scope, 'tenantId' | 'now'>;

/**
 * Lets grants pay what they can of charges, in their order (spec/beyond.md R265): of those above 0 that
 * the account owes. Where no account has a wallet with money it costs one statement. A preview computes
 * the same, and locks and writes nothing.
 */
export async function payCharges(
  trx: Knex.Transaction,
  scope: Origin,
  charges: readonly UnpaidCharge[],
  mode: 'write' | 'preview' = 'write',
): Promise<PaidCharges> {
  const paid = new Map<string, Decimal>();
  const owed = charges.filter(
    ({ usageType, amount }) => usageType === 'Charge' && amount.greaterThan(ZERO),
  );
  if (owed.length === 0) return paid;
  const accounts = new Map(
    owed.map(({ accountId, currency }) => [`${accountId}${currency}`, { accountId, currency }]),
  );
  const ledger = await WalletLedger.ofAccounts(
    trx,
    scope,
    [...accounts.values()],
    mode === 'write' ? 'lock' : 'preview',
  );
  if (!ledger) return paid;
  for (const { id: chargeId, ...charge } of owed) {
    const parts = ledger.draw({ ...charge, chargeId });
    if (parts.length > 0) paid.set(chargeId, sum(parts.map(({ amount }) => amount)));
  }
  if (mode === 'write') await ledger.write();
  return paid;
}

/** The same of the charges of usage, in the transaction that rates it. */
export async function payUsage(
  trx: Knex.Transaction,
  scope: Origin,
  charges: readonly UnpaidCharge[],
): Promise<void> {
  await payCharges(trx, scope, charges);
}

/**
 * Gives back what these charges have drawn, because they are owed no more; the entries are `return`.
 * What has expired or was revoked meanwhile stays so.
 */
export async function returnCredits(
  trx: Knex.Transaction,
  scope: Origin,
  chargeIds: readonly string[],
): Promise<void> {
  const credits = await WalletEntry.credits(trx, scope.tenantId, chargeIds);
  if (credits.length === 0) return;
  const walletIds = [...new Set(credits.map(({ walletId }) => walletId))];
  const grantIds = [...new Set(credits.map(({ grantId }) => grantId))];
  const ledger = await WalletLedger.ofWallets(trx, scope, walletIds, grantIds);
  for (const { chargeId, grantId, walletId, amount } of credits) {
    ledger.giveBack([{ grantId, walletId, amount: new Decimal(amount) }], chargeId);
  }
  await ledger.write();
}
