import type { FlowFailure, FlowRun } from '../kernel/flow-run.js';
import { parseJson, stringifyJson } from '../kernel/json.js';
import { Execution } from '../models/execution.js';
import type { Platform } from '../platform/platform.js';
import { currentPlace } from './flow-step.js';

/** How a flow ended whose last step did not record it. */
export interface FlowEnd {
  readonly run: FlowRun;
  readonly status: 'completed' | 'failed' | 'canceled';
  readonly output?: unknown;
  readonly failure?: FlowFailure;
}

export function executionActivities(platform: Platform) {
  return {
    /** Records the end of a flow, and tells whoever waits for it in this process. */
    async endExecution({ run, status, output, failure }: FlowEnd): Promise<void> {
      const { tenantId, actor, requestId, executionId } = run;
      const place = currentPlace();
      const error = failure ?? null;
      await platform.database
        .forTenant(tenantId, { actor, requestId })
        .transaction((trx) => Execution.end(trx, run, place, { status, output, error }));
      platform.flowReplies.tell(
        executionId,
        failure === undefined
          ? { ok: true, output: parseJson(stringifyJson(output)) }
          : { ok: false, failure },
      );
    },
  };
}
