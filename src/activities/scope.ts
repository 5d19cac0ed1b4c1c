import { activityInfo } from '@temporalio/activity';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../process/platform.js';

/** The workflow run that the current activity belongs to. */
export function currentRun(): { readonly workflowId: string; readonly runId: string } {
  const { workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error('The activity belongs to no workflow.');
  return workflowExecution;
}

/** The scope of what no request and no workflow asks for: a watch, which the audit names. */
export async function watchScope(
  platform: Platform,
  tenantId: string,
  actor: string,
  requestId = actor,
): Promise<Scope> {
  return {
    tenantId,
    orgId: null,
    roles: [],
    actor,
    requestId,
    db: platform.database.forTenant(tenantId, { actor, requestId }, 'batch'),
    now: await platform.clocks.of(tenantId),
    realNow: platform.now,
  };
}

/**
 * The scope of a step that does the work of many requests (rating, billing, audits): the audit names
 * its actor and the workflow.
 */
export const workflowScope = (
  platform: Platform,
  tenantId: string,
  actor: string,
): Promise<Scope> => watchScope(platform, tenantId, actor, currentRun().workflowId);
