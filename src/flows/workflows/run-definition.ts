import { defined } from '../../kernel/defined.js';
import { valueFaults } from '../../kernel/expression/json-schema-check.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { isLongerThan } from '../../kernel/text/json-length.js';
import { jsonWithDoubles } from '../../kernel/text/json.js';
import { definitionLimits } from '../../messages/definitions/definition.js';
import {
  definitionRunKey,
  depthMax,
  runningMax,
} from '../../messages/definitions/definition-run.js';
import { mayRunMore, type DefinedWorkflow } from '../../queries/workflows/definition.js';
import type { FlowStart } from '../run-flow.js';

/**
 * An execution of a tenant's workflow to start. 400: the input is not as its schema says. 409: workflows
 * call each other too deep, or as many run as may.
 */
export async function definedFlow(
  scope: Scope,
  { id, name, version, definition }: DefinedWorkflow,
  data: Record<string, unknown>,
  idempotencyKey: string | null,
): Promise<FlowStart<'runDefinition'>> {
  const start = jsonWithDoubles(data) as Record<string, unknown>;
  const { inputBytes } = definitionLimits;
  if (isLongerThan(start, inputBytes)) {
    throw problem.validation(`'data' has more than ${inputBytes} bytes`, { field: 'data' });
  }
  const faults = valueFaults(start, definition.input?.schema?.document);
  const [first] = faults;
  if (first) {
    const message = `'data${first.pointer}' ${first.message}`;
    throw problem.validation(message, { field: `data${first.pointer}`, faults });
  }
  const depth = (scope.depth ?? 0) + 1;
  if (depth > depthMax) {
    throw problem.conflict(`Workflows call each other at most ${depthMax} deep.`);
  }
  if (!(await mayRunMore(scope))) {
    throw problem.conflict(
      `${runningMax} executions of your workflows run or wait, the most that may.`,
    );
  }
  const { starter } = scope;
  const input = { definitionId: id, version, start, depth, ...defined({ starter }) };
  return {
    workflow: 'runDefinition',
    businessKey: (executionId) => definitionRunKey(id, executionId),
    input,
    entityType: 'workflow',
    entityId: id,
    summary: `${name}, version ${version}`,
    idempotencyKey,
    isLong: true,
    definition: { name, version },
  };
}
