import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import { nextOccurrence } from '../../kernel/time/cron.js';
import type { Schedule } from '../../messages/definitions/definition.js';
import { WorkflowSchedules } from '../../models/workflows/schedule.js';
import { startNamedWorkflows } from './trigger.js';

/** Keeps when a workflow falls due, in the transaction that publishes or hides it. */
export async function keepSchedule(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  { definitionId, version }: { readonly definitionId: string; readonly version: number },
  schedule: Schedule | undefined,
): Promise<void> {
  const { cron, timeZone = 'UTC' } = schedule ?? {};
  const nextAt = cron === undefined ? undefined : nextOccurrence({ cron, timeZone }, now());
  const kept =
    cron === undefined || nextAt === undefined ? undefined : { version, cron, timeZone, nextAt };
  await WorkflowSchedules.keep(trx, tenantId, definitionId, kept);
}

/**
 * Starts a tenant's workflows that are due by its time, and says when they are due next, in one
 * transaction. What was missed meanwhile is made up for once (docs/decisions/0423). Returns how many.
 */
export const startDueSchedules = (scope: Scope, limit: number): Promise<number> =>
  scope.db.transaction(async (trx) => {
    const { tenantId } = scope;
    const now = scope.now();
    const due = await WorkflowSchedules.holdDue(trx, tenantId, now, limit);
    const starts = due.map(({ definitionId, nextAt }) => ({
      workflowId: definitionId,
      recordId: definitionId,
      data: { scheduledAt: nextAt.toISOString() },
    }));
    await startNamedWorkflows(trx, scope, 'schedule', starts);
    for (const { definitionId, version, cron, timeZone } of due) {
      const nextAt = nextOccurrence({ cron, timeZone }, now);
      const kept = nextAt && { version, cron, timeZone, nextAt };
      await WorkflowSchedules.keep(trx, tenantId, definitionId, kept);
    }
    return due.length;
  });
