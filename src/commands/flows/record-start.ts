import type { FlowRun } from '../../messages/flow-run.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import { within, type Scope } from '../../kernel/scope.js';
import { Execution, type TemporalRun } from '../../models/flows/execution.js';
import { keepDefinition } from '../workflows/definition.js';

/**
 * Records that a flow was started, for a caller that does not wait for its end. 404: its definition was
 * deleted meanwhile, and its first step does nothing.
 */
export const recordStart = (scope: Scope, run: FlowRun, place: TemporalRun): Promise<void> =>
  scope.db.transaction(async (trx) => {
    if (!(await Execution.start(trx, run, place))) return;
    const { definitionId } = (run.input ?? {}) as Partial<DefinitionInput>;
    if (definitionId !== undefined) await keepDefinition(within(scope, trx), definitionId);
  });
