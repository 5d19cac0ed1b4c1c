import type { FlowRun } from '../../messages/flow-run.js';
import type { Scope } from '../../kernel/scope.js';
import { Execution, type TemporalRun } from '../../models/flows/execution.js';

/** Records that a flow was started, for a caller that does not wait for its end. */
export const recordStart = (scope: Scope, run: FlowRun, place: TemporalRun): Promise<void> =>
  Execution.start(scope.db.read, run, place);
