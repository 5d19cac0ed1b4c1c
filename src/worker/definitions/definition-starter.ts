import {
  claimDefinedStarts,
  reclaimDefinedStarts,
  startScheduled,
  type DefinedStart,
} from '../../activities/workflows/definition-starts.js';
import { jsonSafeInPortions } from '../../kernel/text/json-write-portions.js';
import { definitionQueue, definitionRunKey } from '../../messages/definitions/definition-run.js';
import { startWorkflow } from '../../platform/temporal/workflow-start.js';
import type { Platform } from '../../process/platform.js';
import { watchCells, type Stoppable } from '../watch.js';

/** How often it looks; a look costs one index. */
const everyMs = 500;
/** How often it looks for schedules, which name minutes. */
const scheduleMs = 1_000;
/** Workflows that are started at the same time. */
const startsMax = 10;

/** Starts one; the same again joins the first, since its execution was chosen with its event. */
async function startOne({ temporal }: Platform, { run, name, cause }: DefinedStart): Promise<void> {
  const { tenantId, executionId, actor, input } = run;
  await startWorkflow(temporal, {
    type: 'runDefinition',
    taskQueue: definitionQueue(temporal.taskQueue),
    workflowId: `${tenantId}/${definitionRunKey(input.definitionId, executionId)}`,
    input: (await jsonSafeInPortions(run)) as object,
    executionId,
    subject: { tenantId, entityType: 'workflow', entityId: input.definitionId, actor },
    definition: { name, version: input.version },
    summary: `${name}, version ${input.version}, started by ${cause}`,
  });
}

async function startAll(platform: Platform, starts: readonly DefinedStart[]): Promise<void> {
  for (let first = 0; first < starts.length; first += startsMax) {
    const some = starts.slice(first, first + startsMax).map(async (start) => {
      try {
        await startOne(platform, start);
      } catch (error) {
        // It stays claimed, and is claimed again when nothing has begun of it.
        const { tenantId, executionId } = start.run;
        platform.log.warn({ err: error, tenantId, executionId }, 'cannot start a workflow');
      }
    });
    await Promise.all(some);
  }
}

/** Starts the workflows that events and alerts of their tenants cause (docs/decisions/0417). */
export function startDefinitionStarter(platform: Platform): Stoppable {
  const failure = 'cannot look for workflows to start; trying again';
  const watches = [
    watchCells(platform, (cell) => ({
      everyMs,
      failure,
      look: async (watch) => {
        for (let isMore = true; isMore && !watch.isStopped;) {
          const { claimed, starts } = await claimDefinedStarts(platform, cell);
          await startAll(platform, starts);
          isMore = claimed > 0;
        }
      },
    })),
    watchCells(platform, (cell) => ({
      everyMs,
      failure,
      look: async () => startAll(platform, await reclaimDefinedStarts(platform, cell)),
    })),
  ];
  watches.push(
    watchCells(platform, (cell) => ({
      everyMs: scheduleMs,
      failure,
      look: async () => startScheduled(platform, cell),
    })),
  );
  return {
    async stop() {
      await Promise.all(watches.map((watch) => watch.stop()));
    },
  };
}
