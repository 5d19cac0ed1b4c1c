import type { Knex } from 'knex';
import { Decimal, decimalText, ZERO } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { rowsAtOnce, writeTogether } from '../../models/db/bulk-table.js';
import {
  WalletBalance,
  type AccountCurrency,
  type WalletBalanceRow,
} from '../../models/balances/wallet-balance.js';
import {
  WalletEntry,
  type EntryKind,
  type WalletEntryRow,
} from '../../models/balances/wallet-entry.js';
import { WalletGrant, type WalletGrantRow } from '../../models/balances/wallet-grant.js';
import { BalanceChanges } from './balance-changes.js';
import type { GrantPart } from './grant-part.js';
import {
  hasEnded,
  ledgerGrant,
  ledgerWallet,
  nextDue,
  type LedgerGrant,
  type LedgerWallet,
} from './ledger-state.js';
import { byUse, freeOf, payWith, type CreditPart } from '../../rating/index.js';

/** A charge that grants may pay. */
export interface PayableCharge extends AccountCurrency {
  readonly chargeId: string;
  /** Null of what is for several: only grants for all services pay it. */
  readonly serviceId: string | null;
  readonly amount: Decimal;
}

type Cause = Partial<Pick<WalletEntryRow, 'chargeId' | 'holdId'>>;

/**
 * The ledger of some wallets in one transaction: it locks them, enters and expires what is due, takes
 * movements, and `write` keeps what came of them. Every movement of money is here, so that entries,
 * grants and balances cannot disagree (docs/decisions/0390).
 */
export class WalletLedger {
  readonly #trx: Knex.Transaction;
  readonly #tenantId: string;
  /** The instant of all its entries: after the lock, so that they are in the order of time. */
  readonly now: Date;
  readonly #wallets: ReadonlyMap<string, LedgerWallet>;
  readonly #accounts: ReadonlySet<string>;
  readonly #grants = new Map<string, LedgerGrant>();
  readonly #payers = new Map<string, LedgerGrant[]>();
  readonly #moved = new Set<LedgerWallet>();
  readonly #changed = new Set<LedgerGrant>();
  readonly #entries: WalletEntryRow[] = [];

  private constructor(
    trx: Knex.Transaction,
    { tenantId, now }: Pick<Scope, 'tenantId' | 'now'>,
    rows: readonly WalletBalanceRow[],
    grants: readonly WalletGrantRow[],
  ) {
    this.#trx = trx;
    this.#tenantId = tenantId;
    this.now = now();
    this.#wallets = new Map(rows.map((row) => [row.walletId, ledgerWallet(row)]));
    this.#accounts = new Set(
      rows.map(({ accountId, currency }) => `${accountId}/${currency ?? ''}`),
    );
    for (const row of grants) this.#put(ledgerGrant(row));
    for (const wallet of this.#wallets.values()) {
      wallet.grants.sort(byUse);
      this.#settle(wallet);
    }
  }

  /** Locks these wallets, with what is open of their grants and `grantIds` of them. */
  static async ofWallets(
    trx: Knex.Transaction,
    scope: Pick<Scope, 'tenantId' | 'now'>,
    walletIds: readonly string[],
    grantIds: readonly string[] = [],
  ): Promise<WalletLedger> {
    const rows = await WalletBalance.lockWallets(trx, scope.tenantId, walletIds);
    return WalletLedger.#open(trx, scope, rows, grantIds);
  }

  /** Locks the active wallets of accounts that hold money; undefined where there are none. */
  static async withMoney(
    trx: Knex.Transaction,
    scope: Pick<Scope, 'tenantId' | 'now'>,
    accounts: readonly AccountCurrency[],
  ): Promise<WalletLedger | undefined> {
    const { tenantId, now } = scope;
    const rows = await WalletBalance.withMoney(trx, tenantId, accounts, now());
    return rows.length === 0 ? undefined : WalletLedger.#open(trx, scope, rows);
  }

  /**
   * Locks all wallets of accounts; undefined where there are none. `alsoOf` is asked under the lock for
   * grants that are read although nothing is left of them. What is only previewed locks nothing and must
   * not be written.
   */
  static async ofAccounts(
    trx: Knex.Transaction,
    scope: Pick<Scope, 'tenantId' | 'now'>,
    accounts: readonly AccountCurrency[],
    mode: 'lock' | 'preview',
    alsoOf: () => Promise<readonly string[]>,
  ): Promise<WalletLedger | undefined> {
    const rows = await WalletBalance.ofAccounts(trx, scope.tenantId, accounts, mode);
    return rows.length === 0 ? undefined : WalletLedger.#open(trx, scope, rows, await alsoOf());
  }

  static async #open(
    trx: Knex.Transaction,
    scope: Pick<Scope, 'tenantId' | 'now'>,
    rows: readonly WalletBalanceRow[],
    grantIds: readonly string[] = [],
  ): Promise<WalletLedger> {
    const ids = rows.map(({ walletId }) => walletId);
    // Read after the lock, by a statement of its own: it sees what was committed before.
    const grants = await WalletGrant.ofWallets(trx, scope.tenantId, ids, grantIds);
    return new WalletLedger(trx, scope, rows, grants);
  }

  /** Whether an account has wallets in a currency. */
  hasWallets({ accountId, currency }: AccountCurrency): boolean {
    return this.#accounts.has(`${accountId}/${currency}`);
  }

  /** Whether something of a locked wallet is promised to holds. */
  get hasHeld(): boolean {
    return [...this.#wallets.values()].some(({ held }) => held.greaterThan(ZERO));
  }

  grant(id: string): LedgerGrant | undefined {
    return this.#grants.get(id);
  }

  /** Orders grants by their ids as they are used. */
  compareUse(a: string, b: string): number {
    const [one, other] = [this.#grants.get(a), this.#grants.get(b)];
    return one && other ? byUse(one, other) : 0;
  }

  /** How many grants of a wallet are open. */
  openGrants(walletId: string): number {
    return this.#wallet(walletId).grants.length;
  }

  /** Takes a new grant into the ledger; one of a later time is entered when it takes effect. */
  add(row: WalletGrantRow): void {
    const grant = ledgerGrant(row);
    this.#put(grant);
    const wallet = this.#wallet(grant.walletId);
    wallet.grants.sort(byUse);
    this.#settle(wallet);
  }

  /** Pays a charge as far as its account's grants go; what they do not pay is billed. */
  draw(charge: PayableCharge): GrantPart[] {
    const parts = payWith(charge.amount, charge.serviceId, this.#payersOf(charge));
    for (const { credit, amount } of parts) {
      this.#enter(credit, 'draw', amount.negated(), { chargeId: charge.chargeId });
    }
    return parts.map(partOf);
  }

  /** What holds may still be promised of an account's money. */
  available(account: AccountCurrency): Decimal {
    let sum = ZERO;
    for (const grant of this.#payersOf(account)) {
      if (grant.serviceIds === null) sum = sum.plus(freeOf(grant));
    }
    return sum;
  }

  /** Frees what a hold was promised. */
  release(parts: readonly GrantPart[], holdId: string): void {
    for (const { grantId, amount } of parts) {
      const grant = this.#grants.get(grantId);
      if (!grant || !amount.greaterThan(ZERO)) continue;
      const wallet = this.#wallet(grant.walletId);
      grant.held = grant.held.minus(amount);
      wallet.held = wallet.held.minus(amount);
      this.#note(wallet, grant, { kind: 'release', amount: ZERO, held: amount }, { holdId });
      this.#takeEnded(grant);
    }
  }

  /** Pays a charge with what a hold was promised; returns what of the promise is left, and what paid. */
  drawHeld(charge: PayableCharge, parts: readonly GrantPart[], holdId: string) {
    const left: GrantPart[] = [];
    const drawn: GrantPart[] = [];
    let open = charge.amount;
    for (const part of parts) {
      const grant = this.#grants.get(part.grantId);
      if (!grant) continue;
      const paid = Decimal.max(ZERO, Decimal.min(open, part.amount));
      if (paid.greaterThan(ZERO)) {
        grant.held = grant.held.minus(paid);
        const wallet = this.#wallet(grant.walletId);
        wallet.held = wallet.held.minus(paid);
        this.#enter(grant, 'draw', paid.negated(), { chargeId: charge.chargeId, holdId });
        open = open.minus(paid);
        drawn.push({ ...part, amount: paid });
      }
      left.push({ ...part, amount: part.amount.minus(paid) });
    }
    return { left, open, drawn };
  }

  /** Gives back what a charge has drawn: what has ended meanwhile stays ended. */
  giveBack(parts: readonly GrantPart[], chargeId: string): void {
    const given = new Set<LedgerGrant>();
    for (const { grantId, amount } of parts) {
      const grant = this.#grants.get(grantId);
      if (!grant || !amount.greaterThan(ZERO)) continue;
      this.#enter(grant, 'return', amount, { chargeId });
      given.add(grant);
    }
    // Once for all of a wallet: it goes through all of its grants.
    const walletIds = new Set([...given].map(({ walletId }) => walletId));
    for (const walletId of walletIds) this.#settle(this.#wallet(walletId));
    for (const grant of given) this.#takeEnded(grant);
  }

  /** Takes back what a charge has returned, as far as it is still there; returns what was taken. */
  takeBack(parts: readonly GrantPart[], chargeId: string): GrantPart[] {
    return parts.flatMap((part) => {
      const grant = this.#grants.get(part.grantId);
      const amount = grant ? Decimal.min(part.amount, freeOf(grant)) : ZERO;
      if (!grant || !amount.greaterThan(ZERO)) return [];
      this.#enter(grant, 'draw', amount.negated(), { chargeId });
      return [{ ...part, amount }];
    });
  }

  /** What a grant has lost at its end: `before` says what of it before this transaction. */
  lostOf(grantId: string, before: ReadonlyMap<string, Decimal>): Decimal {
    return (before.get(grantId) ?? ZERO).plus(this.#grants.get(grantId)?.lost ?? ZERO);
  }

  /** Brings back what a grant has lost at its end, to be drawn at once. */
  undoEnd(grantId: string, amount: Decimal): void {
    const grant = this.#grants.get(grantId);
    if (!grant || !amount.greaterThan(ZERO)) return;
    grant.lost = grant.lost.minus(amount);
    this.#enter(grant, grant.revokedAt === null ? 'expire' : 'revoke', amount, {});
  }

  /** Takes back what is left of a grant, but for what is held. */
  revoke(grant: LedgerGrant): void {
    grant.revokedAt = this.now;
    this.#changed.add(grant);
    const wallet = this.#wallet(grant.walletId);
    this.#moved.add(wallet);
    // A grant that has not taken effect is not in the balance yet.
    if (grant.enteredAt === null) grant.rest = ZERO;
    else this.#takeEnded(grant);
    wallet.dueAt = nextDue(wallet);
  }

  /**
   * Writes what has changed, with what falling balances lead to; where the transaction goes on to move them,
   * that is left to the caller of `changes`.
   */
  async write(changes?: BalanceChanges): Promise<void> {
    const [trx, tenantId] = [this.#trx, this.#tenantId];
    const balances = [...this.#moved].map(({ id, balance, held, lastEntry, dueAt }) => ({
      walletId: id,
      balance: decimalText(balance),
      held: decimalText(held),
      lastEntry,
      dueAt,
      movedAt: this.now,
    }));
    const grants = [...this.#changed].map((grant) => ({
      id: grant.id,
      rest: decimalText(grant.rest),
      held: decimalText(grant.held),
      enteredAt: grant.enteredAt,
      expiredAt: grant.expiredAt,
      revokedAt: grant.revokedAt,
      isOpen: grant.rest.greaterThan(ZERO),
    }));
    // Hundreds of grants may pay each charge of a batch, and get it back of the next one.
    await WalletEntry.insertMany(trx, tenantId, this.#entries.splice(rowsAtOnce));
    await writeTogether(trx, [
      WalletBalance.moving(tenantId, balances),
      WalletGrant.moving(tenantId, grants),
      WalletEntry.inserting(tenantId, this.#entries),
    ]);
    const moved = changes ?? new BalanceChanges();
    for (const { id, accountId, currency, before, balance } of this.#moved) {
      moved.add({ walletId: id, accountId, currency, before, after: balance });
    }
    if (!changes) await moved.settle(trx, { tenantId, now: () => this.now });
  }

  #wallet(id: string): LedgerWallet {
    const wallet = this.#wallets.get(id);
    if (!wallet) throw new Error(`The wallet '${id}' is not locked.`);
    return wallet;
  }

  #put(grant: LedgerGrant): void {
    const wallet = this.#wallets.get(grant.walletId);
    if (!wallet) return;
    this.#grants.set(grant.id, grant);
    wallet.grants.push(grant);
  }

  /** The grants of an account that have begun, over all its wallets, in their order of use. */
  #payersOf({ accountId, currency }: AccountCurrency): LedgerGrant[] {
    const key = `${accountId}/${currency}`;
    let grants = this.#payers.get(key);
    if (!grants) {
      grants = [...this.#wallets.values()]
        .filter(
          (wallet) =>
            wallet.isActive && wallet.accountId === accountId && wallet.currency === currency,
        )
        .flatMap((wallet) => wallet.grants)
        .filter((grant) => grant.enteredAt !== null && !hasEnded(grant))
        .sort(byUse);
      this.#payers.set(key, grants);
    }
    return grants;
  }

  /** Enters and expires what is due of a wallet, in the order of time. */
  #settle(wallet: LedgerWallet): void {
    for (const grant of wallet.grants) {
      if (grant.enteredAt === null && grant.revokedAt === null && grant.effectiveFrom <= this.now) {
        grant.enteredAt = this.now;
        this.#enter(grant, 'grant', grant.rest, {}, false);
      }
      if (grant.expiresAt === null || grant.expiresAt > this.now) continue;
      if (grant.enteredAt !== null && grant.expiredAt === null && grant.revokedAt === null) {
        grant.expiredAt = this.now;
        this.#changed.add(grant);
        this.#moved.add(wallet);
        this.#takeEnded(grant);
      }
    }
    const dueAt = nextDue(wallet);
    if (dueAt?.getTime() !== wallet.dueAt?.getTime()) this.#moved.add(wallet);
    wallet.dueAt = dueAt;
    this.#payers.clear();
  }

  /** Takes what is left of a grant that has ended, but for what is held. */
  #takeEnded(grant: LedgerGrant): void {
    const free = freeOf(grant);
    if (!hasEnded(grant) || !free.greaterThan(ZERO)) return;
    grant.lost = grant.lost.plus(free);
    this.#enter(grant, grant.revokedAt === null ? 'expire' : 'revoke', free.negated(), {});
  }

  #enter(grant: LedgerGrant, kind: EntryKind, amount: Decimal, cause: Cause, moves = true): void {
    const wallet = this.#wallet(grant.walletId);
    if (moves) grant.rest = grant.rest.plus(amount);
    wallet.balance = wallet.balance.plus(amount);
    this.#note(wallet, grant, { kind, amount, held: null }, cause);
  }

  #note(
    wallet: LedgerWallet,
    grant: LedgerGrant,
    { kind, amount, held }: { kind: EntryKind; amount: Decimal; held: Decimal | null },
    { chargeId = null, holdId = null }: Cause,
  ): void {
    this.#moved.add(wallet);
    this.#changed.add(grant);
    wallet.lastEntry += 1;
    this.#entries.push({
      walletId: wallet.id,
      number: wallet.lastEntry,
      kind,
      amount: decimalText(amount),
      held: held === null ? null : decimalText(held),
      balanceAfter: decimalText(wallet.balance),
      grantId: grant.id,
      chargeId,
      holdId,
      at: this.now,
    });
  }
}

const partOf = ({ credit, amount }: CreditPart<LedgerGrant>): GrantPart => ({
  grantId: credit.id,
  walletId: credit.walletId,
  amount,
});
