import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { isDue, type AccountCurrency } from '../../models/balances/wallet-balance.js';
import { WalletHold, type HoldStatus } from '../../models/balances/wallet-hold.js';
import { UsageEvent } from '../../models/usage/usage-event.js';
import { missingHold } from '../../queries/balances/hold.js';
import type * as schema from '../../schemas/balances/hold.js';
import { WalletLedger, type GrantPart } from './wallet-ledger.js';

export type HoldDto = Static<typeof schema.Hold>;

/** Holds whose time is over that one transaction releases. */
const releasedMax = 500;
/** How long a commit may wait for its event before the hold is released all the same. */
const commitMs = 300_000;

type Presented = 'id' | 'accountId' | 'currency' | 'amount' | 'key' | 'status' | 'expiresAt';

export const presentHold = (hold: Pick<WalletHold, Presented>): Omit<HoldDto, 'available'> => {
  const { id, accountId, currency, amount, key, status, expiresAt } = hold;
  return {
    id,
    accountId,
    currency,
    amount: new Decimal(amount),
    key,
    status,
    expiresAt: expiresAt.toISOString(),
  };
};

export const partsOf = ({ parts }: WalletHold): GrantPart[] =>
  parts.map(({ amount, ...part }) => ({ ...part, amount: new Decimal(amount) }));

/** Releases the holds of an account whose time is over; `ledger` has its wallets. */
export async function releaseDue(
  trx: Knex.Transaction,
  { tenantId }: Pick<Scope, 'tenantId'>,
  ledger: WalletLedger,
  account: AccountCurrency,
): Promise<void> {
  const due = await WalletHold.due(trx, tenantId, account, { now: ledger.now, limit: releasedMax });
  for (const hold of due) ledger.release(partsOf(hold), hold.id);
  const ids = due.map(({ id }) => id);
  await WalletHold.end(trx, tenantId, ids, { status: 'expired', endedAt: ledger.now });
}

/** Releases what is over of the holds of an account, and settles its wallets. */
export async function releaseDueOf(scope: Scope, account: AccountCurrency): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const ledger = await WalletLedger.ofAccounts(trx, scope, [account]);
    if (!ledger) return;
    await releaseDue(trx, scope, ledger, account);
    await ledger.write();
  });
}

/** Does what is due of an account's wallets and holds, so that what is read next is true now. */
export async function settleAccount(scope: Scope, account: AccountCurrency): Promise<void> {
  const { db, tenantId, now } = scope;
  if (await isDue(db.read, tenantId, account, now())) await releaseDueOf(scope, account);
}

/** Releases what is over of the holds of a tenant, of at most so many; returns of how many accounts. */
export async function releaseDueHolds(scope: Scope, limit: number): Promise<number> {
  const { db, tenantId, now } = scope;
  const accounts = await WalletHold.dueAccounts(db.read, tenantId, now(), limit);
  for (const account of accounts) await releaseDueOf(scope, account);
  return accounts.length;
}

/** A hold with its wallets locked, and what is over released. */
interface LockedHold {
  readonly trx: Knex.Transaction;
  readonly hold: WalletHold;
  readonly ledger: WalletLedger | undefined;
}

/** Works on a hold while its wallets are locked. 404: there is none. */
async function withHold<T>(
  scope: Scope,
  id: string,
  work: (locked: LockedHold) => Promise<T>,
): Promise<T> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const found = await WalletHold.query(trx).forTenant(tenantId).findById(id);
    if (!found) throw missingHold(id);
    const ledger = await WalletLedger.ofAccounts(trx, scope, [found]);
    const hold = await WalletHold.query(trx).forTenant(tenantId).findById(id);
    if (!hold) throw missingHold(id);
    const done = await work({ trx, hold, ledger });
    await ledger?.write();
    return done;
  });
}

/** Releases a hold (spec/beyond.md R273). 404: there is none. 409: its event is rated, or is being. */
export async function releaseHold(scope: Scope, id: string): Promise<void> {
  await withHold(scope, id, async ({ trx, hold, ledger }) => {
    if (hold.status === 'released' || hold.status === 'expired') return;
    if (hold.status !== 'open') throw problem.conflict(`The hold is ${hold.status}.`);
    await endHold(trx, scope, { hold, ledger, status: 'released' });
  });
}

async function endHold(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  { hold, ledger, status }: Pick<LockedHold, 'hold' | 'ledger'> & { readonly status: HoldStatus },
): Promise<void> {
  ledger?.release(partsOf(hold), hold.id);
  await WalletHold.end(trx, tenantId, [hold.id], { status, endedAt: now() });
}

/** The event that commits a hold. */
export interface HoldCommit {
  readonly externalId: string;
  /** Names the content of its message. */
  readonly messageId: string;
}

/**
 * Lets a hold wait for its event; false: it was committed with the same event before. 404: there is no
 * such hold. 409: it has expired or was released, another event commits it, or the event was rated
 * already, or commits another hold.
 */
export async function beginCommit(scope: Scope, id: string, commit: HoldCommit): Promise<boolean> {
  const { tenantId, now } = scope;
  return withHold(scope, id, async ({ trx, hold }) => {
    requireCommittable(hold, commit.messageId, now());
    if (hold.status === 'committed') return false;
    // Of all holds one at a time waits for an event: the index of these holds refuses a second one.
    await WalletHold.query(trx)
      .forTenant(tenantId)
      .findById(id)
      .patch({
        ...commit,
        status: 'committing',
        releaseAt: new Date(now().getTime() + commitMs),
      });
    if (hold.status === 'open') await requireUnrated(trx, tenantId, commit.externalId);
    return true;
  });
}

/**
 * 409: the event is rated. Read when no other hold waits for it any more: what has committed one before
 * has rated the event.
 */
async function requireUnrated(
  trx: Knex.Transaction,
  tenantId: string,
  externalId: string,
): Promise<void> {
  const event = await UsageEvent.ofExternalIds(trx, tenantId, [externalId]).first();
  if (event?.status === 'rated' || event?.status === 'canceled') {
    throw problem.conflict(`The usage event '${externalId}' is ${event.status} already.`, {
      field: 'message.externalTransactionId',
    });
  }
}

/** 409: the hold cannot be committed with this event. */
export function requireCommittable(hold: WalletHold, messageId: string, now: Date): void {
  const { status, expiresAt } = hold;
  if (status === 'open' && expiresAt > now) return;
  if (status === 'committing' || status === 'committed') {
    if (hold.messageId === messageId) return;
    throw problem.conflict(`The hold is ${status} with another event.`);
  }
  throw problem.conflict(
    status === 'released'
      ? 'The hold was released.'
      : `The hold has expired at ${expiresAt.toISOString()}.`,
  );
}

/**
 * Ends the commit of a hold whose event was rated: where rating had nothing to draw, it is released
 * here. One whose event could not be rated is open again.
 */
export async function finishCommit(scope: Scope, id: string, isRated: boolean): Promise<HoldDto> {
  const { tenantId } = scope;
  return withHold(scope, id, async ({ trx, hold, ledger }) => {
    if (hold.status === 'committing') {
      if (isRated) await endHold(trx, scope, { hold, ledger, status: 'committed' });
      else {
        await WalletHold.query(trx)
          .forTenant(tenantId)
          .findById(id)
          .patch({ status: 'open', releaseAt: hold.expiresAt, externalId: null, messageId: null });
      }
    }
    const ended = await WalletHold.query(trx).forTenant(tenantId).findById(id);
    return { ...presentHold(ended ?? hold), available: ledger?.available(hold) ?? ZERO };
  });
}
