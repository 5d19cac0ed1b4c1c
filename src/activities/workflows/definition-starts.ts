import { setImmediate as nextTurn } from 'node:timers/promises';
import { defined } from '../../kernel/defined.js';
import { isLongerThan } from '../../kernel/text/json-length.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import { definitionLimits } from '../../messages/definitions/definition.js';
import type { FlowRun } from '../../messages/flow-run.js';
import { WorkflowDefinition } from '../../models/workflows/definition.js';
import { WorkflowStarts, type ClaimedStart } from '../../models/workflows/trigger.js';
import { WorkflowSchedules } from '../../models/workflows/schedule.js';
import { startDueSchedules } from '../../commands/workflows/schedule.js';
import type { Platform } from '../../process/platform.js';
import { watchScope } from '../scope.js';
import { dataOfEvent, FailedConditions, holds } from './condition.js';
import type { Cell } from '../../platform/database/cell.js';

/** An execution that is to be started. */
export interface DefinedStart {
  readonly run: FlowRun<DefinitionInput>;
  readonly name: string;
  /** What causes it, for people. */
  readonly cause: string;
}

/** Who is said to have started what nobody did. */
const actor = 'workflow-trigger';

/** What events say, as workflows are given it; several that one event starts have it in common. */
function dataOfStarts(): (start: ClaimedStart) => Promise<Record<string, unknown>> {
  let last: { readonly of: string; readonly data: Record<string, unknown> } | undefined;
  return async ({ tenantId, eventId, cause, body }) => {
    const of = JSON.stringify([tenantId, eventId, cause]);
    if (last?.of !== of) last = { of, data: await dataOfEvent(body) };
    return last.data;
  };
}

/** Tenants whose names are read at the same time. */
const readsMax = 10;

/** The names of workflows of a tenant, by their ids: only its own scope reads them. */
async function namesOfTenant(
  platform: Platform,
  tenantId: string,
  ids: ReadonlySet<string>,
): Promise<[string, string][]> {
  try {
    const { db } = await watchScope(platform, tenantId, actor);
    return [...(await WorkflowDefinition.names(db.read, tenantId, [...ids]))];
  } catch (error) {
    // They are for show in Temporal: nothing waits for them, and the starts of others even less.
    platform.log.warn({ err: error, tenantId }, 'cannot read the names of workflows that start');
    return [];
  }
}

/** The names of the workflows that are started, by their ids, as far as they can be read. */
async function namesOf(
  platform: Platform,
  claimed: readonly ClaimedStart[],
): Promise<ReadonlyMap<string, string>> {
  const ofTenants = new Map<string, Set<string>>();
  for (const { tenantId, definitionId } of claimed) {
    const ids = ofTenants.get(tenantId) ?? new Set();
    ofTenants.set(tenantId, ids.add(definitionId));
  }
  const tenants = [...ofTenants];
  const names = new Map<string, string>();
  for (let first = 0; first < tenants.length; first += readsMax) {
    const some = tenants.slice(first, first + readsMax);
    const read = await Promise.all(some.map(([id, ids]) => namesOfTenant(platform, id, ids)));
    for (const [id, name] of read.flat()) names.set(id, name);
  }
  return names;
}

async function startsOf(
  platform: Platform,
  cell: Cell,
  claimed: readonly ClaimedStart[],
): Promise<DefinedStart[]> {
  const starts: DefinedStart[] = [];
  const dropped: ClaimedStart[] = [];
  const failed = new FailedConditions(platform);
  const names = await namesOf(platform, claimed);
  const dataOf = dataOfStarts();
  for (const one of claimed) {
    const {
      tenantId,
      id: executionId,
      definitionId,
      version,
      cause,
      eventId,
      depth,
      starter,
    } = one;
    const start = await dataOf(one);
    const isStarted = holds(one.condition, { data: start }, (fault) =>
      failed.add({ tenantId, definitionId, version, event: cause, executionId: null, fault }),
    );
    if (isStarted) {
      // It fails as it begins, where it is seen: nobody waits for an answer that could say so.
      const isStartTooLong = isLongerThan(start, definitionLimits.inputBytes) ? true : undefined;
      const input = {
        definitionId,
        version,
        start: isStartTooLong ? {} : start,
        depth,
        ...defined({ isStartTooLong, starter: starter ?? undefined }),
      };
      const requestId = `${cause}/${eventId}`;
      starts.push({
        name: names.get(definitionId) ?? '',
        cause,
        run: { executionId, tenantId, orgId: null, actor, requestId, input },
      });
    } else dropped.push(one);
    // What an event says may be long, and a condition costs something: whoever else waits has a turn in between.
    await nextTurn();
  }
  await failed.note();
  await WorkflowStarts.drop(cell.platform, dropped);
  return starts;
}

/** Claims what is to be started in a cell; `claimed` counts those whose condition does not hold, too. */
export async function claimDefinedStarts(
  platform: Platform,
  cell: Cell,
): Promise<{ readonly claimed: number; readonly starts: readonly DefinedStart[] }> {
  const claimed = await WorkflowStarts.claim(cell.platform);
  return { claimed: claimed.length, starts: await startsOf(platform, cell, claimed) };
}

/** Claims what a process has claimed that died before the execution began. */
export const reclaimDefinedStarts = async (
  platform: Platform,
  cell: Cell,
): Promise<readonly DefinedStart[]> =>
  startsOf(platform, cell, await WorkflowStarts.reclaim(cell.platform));

/** Tenants, and schedules of one, that are looked for at once. */
const tenantsMax = 200;
const schedulesMax = 100;

/** Starts the workflows of a cell whose schedule has come. */
export async function startScheduled(platform: Platform, cell: Cell): Promise<void> {
  const tenants = await WorkflowSchedules.dueTenants(cell.platform, platform.now(), tenantsMax);
  const failures: unknown[] = [];
  for (const tenantId of tenants) {
    try {
      const scope = await watchScope(platform, tenantId, 'workflow-schedule');
      while ((await startDueSchedules(scope, schedulesMax)) === schedulesMax);
    } catch (error) {
      // Those of other tenants are started all the same.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
