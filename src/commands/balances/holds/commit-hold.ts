import type { Knex } from 'knex';
import { ZERO } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { WalletHold } from '../../../models/balances/wallet-hold.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { presentHold } from '../../../queries/balances/hold.js';
import { endHold, withHold, type HoldDto } from './hold.js';

/** How long a commit may wait for its event before the hold is released all the same. */
const commitMs = 300_000;

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
      value: externalId,
    });
  }
}

/** 409: the hold cannot be committed with this event. */
export function requireCommittable(hold: WalletHold, messageId: string, now: Date): void {
  const { status, expiresAt } = hold;
  if (status === 'open' && expiresAt > now) return;
  if (status === 'committing' || status === 'committed') {
    if (hold.messageId === messageId) return;
    throw problem.conflict(
      `The hold is ${status} with another event, '${hold.externalId ?? ''}'.`,
      { field: 'message' },
    );
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
