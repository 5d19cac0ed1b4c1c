import type { Scope } from '../../../kernel/scope.js';
import { UsageEventChange } from '../../../models/usage/corrections/usage-event-change.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { contentAt, readContents } from './content-at.js';

/** An event as it was at an instant: before it was canceled or amended, with the content of then. */
export async function eventKnownOn(
  { db, tenantId }: Scope,
  now: UsageEvent,
  knownOn: Date,
): Promise<UsageEvent | undefined> {
  if (now.receivedAt > knownOn) return undefined;
  const was = await UsageEventChange.query(db.read)
    .forTenant(tenantId)
    .where({ eventId: now.id })
    .where('changedAt', '>', knownOn)
    .orderBy('number')
    .first();
  if (!was) return now;
  const contents = await readContents(db.read, tenantId, [now.id]);
  const { status, code, reason, accountId, serviceId, eventAt, runId, processedAt } = was;
  const [run] = await sqlRows<{ workflowId: string }>(
    db.read,
    `select workflow_id as "workflowId" from usage_run where tenant_id = ? and run_id = ?`,
    [tenantId, runId],
  );
  return Object.assign(new UsageEvent(), now, {
    status,
    code,
    reason,
    accountId,
    serviceId,
    eventAt,
    runId,
    processedAt,
    workflow: was.workflowId ?? run?.workflowId ?? '',
    text: contentAt(contents.get(now.id), knownOn),
  });
}
