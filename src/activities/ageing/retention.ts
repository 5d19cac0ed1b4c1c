import { removeAged, type RemovedPortion } from '../../commands/ageing/remove-aged.js';
import type { RetentionKind } from '../../kernel/retention.js';
import type { LogPlace } from '../../models/ageing/aged-messages.js';
import { countLegalHolds } from '../../models/access/legal-hold.js';
import { listDueRetention, type DueRetention } from '../../models/access/retention-rule.js';
import type { Platform } from '../../process/platform.js';

const actor = 'retention';

/**
 * What may have become too old, of all tenants of the cells that answer; counts the legal holds in
 * passing.
 */
export async function listRetention({
  database,
  metrics,
  now,
}: Platform): Promise<readonly DueRetention[]> {
  const answers = await Promise.allSettled(
    database.cells.map(async ({ platform }) => ({
      holds: await countLegalHolds(platform),
      due: await listDueRetention(platform, now()),
    })),
  );
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  metrics.legalHolds.set(found.reduce((sum, { holds }) => sum + holds, 0));
  const due = found.flatMap((each) => each.due);
  metrics.retentionWaiting.set(due.length);
  return due;
}

/** Removes a portion of one kind of a tenant (docs/decisions/0350). */
export async function removeAgedOf(
  { database, metrics, now }: Platform,
  { tenantId, kind }: { readonly tenantId: string; readonly kind: RetentionKind },
  after: LogPlace | null,
): Promise<RemovedPortion> {
  const db = database.forTenant(tenantId, { actor, requestId: actor }, 'batch');
  const portion = await removeAged({ tenantId, db, now }, kind, after);
  metrics.retentionRemoved.inc({ kind }, portion.removed);
  return portion;
}
