import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import type { WalletBalanceRow } from '../../models/balances/wallet-balance.js';
import type { WalletGrantRow } from '../../models/balances/wallet-grant.js';

/** A grant while its wallet is locked. */
export interface LedgerGrant {
  readonly id: string;
  readonly walletId: string;
  readonly priority: number;
  readonly effectiveFrom: Date;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  readonly serviceIds: readonly string[] | null;
  rest: Decimal;
  held: Decimal;
  /** What has expired or was revoked of it since it was locked. */
  lost: Decimal;
  enteredAt: Date | null;
  expiredAt: Date | null;
  revokedAt: Date | null;
}

/** A wallet while it is locked, with its grants in their order of use. */
export interface LedgerWallet {
  readonly id: string;
  readonly accountId: string;
  readonly currency: string | null;
  readonly isActive: boolean;
  /** As it was when it was locked. */
  readonly before: Decimal;
  balance: Decimal;
  held: Decimal;
  lastEntry: number;
  dueAt: Date | null;
  grants: LedgerGrant[];
}

export const hasEnded = ({ expiredAt, revokedAt }: LedgerGrant): boolean =>
  expiredAt !== null || revokedAt !== null;

/** When the next of a wallet's grants takes effect or expires. */
export function nextDue({ grants }: LedgerWallet): Date | null {
  let next: Date | null = null;
  for (const grant of grants) {
    if (hasEnded(grant)) continue;
    const at = grant.enteredAt === null ? grant.effectiveFrom : grant.expiresAt;
    if (at !== null && grant.rest.greaterThan(ZERO) && (next === null || at < next)) next = at;
  }
  return next;
}

export const ledgerWallet = (row: WalletBalanceRow): LedgerWallet => ({
  id: row.walletId,
  accountId: row.accountId,
  currency: row.currency,
  isActive: row.isActive,
  before: new Decimal(row.balance),
  balance: new Decimal(row.balance),
  held: new Decimal(row.held),
  lastEntry: Number(row.lastEntry),
  dueAt: row.dueAt,
  grants: [],
});

export const ledgerGrant = (row: WalletGrantRow): LedgerGrant => ({
  id: row.id,
  walletId: row.walletId,
  priority: row.priority,
  effectiveFrom: row.effectiveFrom,
  expiresAt: row.expiresAt,
  createdAt: row.createdAt,
  serviceIds: row.serviceIds,
  rest: new Decimal(row.rest),
  held: new Decimal(row.held),
  lost: ZERO,
  enteredAt: row.enteredAt,
  expiredAt: row.expiredAt,
  revokedAt: row.revokedAt,
});
