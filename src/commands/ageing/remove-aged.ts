import type { Knex } from 'knex';
import { retentionHorizon, type RetentionKind } from '../../kernel/retention.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { removeMessages, type LogPlace } from '../../models/ageing/aged-messages.js';
import {
  removeAuditEntries,
  removeExecutions,
  removeIdempotencyKeys,
  removeWebhookRows,
  type AgedRows,
} from '../../models/ageing/aged-rows.js';
import { findLegalHold, tryAgeingLock } from '../../models/access/legal-hold.js';
import { readRetention, recordRemoved } from '../../models/access/retention-rule.js';

/** What one portion came to. */
export interface RemovedPortion {
  readonly removed: number;
  /** Whether nothing is left to remove today, or another process removes it, or nobody may. */
  readonly isLast: boolean;
  /** Of messages: where the next portion begins. */
  readonly next?: LogPlace | null;
}

/** Rows that one transaction removes, and of the usage log those that it looks at. */
const portions: Readonly<Record<RetentionKind, number>> = {
  messages: 1_000,
  webhooks: 2_000,
  executions: 1_000,
  idempotencyKeys: 5_000,
  audit: 5_000,
};

const removals: Readonly<
  Record<
    Exclude<RetentionKind, 'messages'>,
    (trx: Knex.Transaction, aged: AgedRows) => Promise<number>
  >
> = {
  webhooks: removeWebhookRows,
  executions: removeExecutions,
  idempotencyKeys: removeIdempotencyKeys,
  audit: removeAuditEntries,
};

/**
 * Removes a portion of what is older than the tenant's retention of a kind, in one transaction
 * (docs/decisions/0350). A lock of the tenant admits one process at a time; a legal hold, nobody.
 */
export async function removeAged(
  { tenantId, db, now }: Pick<Scope, 'tenantId' | 'db' | 'now'>,
  kind: RetentionKind,
  after: LogPlace | null,
): Promise<RemovedPortion> {
  return db.transaction(async (trx) => {
    if (!(await tryAgeingLock(trx, tenantId))) return { removed: 0, isLast: true };
    // Asked again under the lock: a hold that was placed meanwhile holds from its commit on.
    if (await findLegalHold(trx, tenantId)) return { removed: 0, isLast: true };
    const rule = (await readRetention(trx, tenantId)).find((each) => each.kind === kind);
    if (rule === undefined || rule.days === null) return { removed: 0, isLast: true };
    const before = retentionHorizon(now(), rule.days);
    const aged: AgedRows = { tenantId, before, limit: portions[kind] };
    const portion =
      kind === 'messages'
        ? await removeMessages(trx, { ...aged, today: utcDate(now()), after })
        : { removed: await removals[kind](trx, aged), next: null };
    const isLast = kind === 'messages' ? portion.next === null : portion.removed === 0;
    await recordRemoved(trx, tenantId, kind, {
      removed: portion.removed,
      upTo: isLast ? before : null,
    });
    return { ...portion, isLast };
  });
}
