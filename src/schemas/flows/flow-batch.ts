import { Type, type Static } from 'typebox';
import { Count, nullable } from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { FlowError } from '../http/problem.js';
import { ExecutionResult, flowBody, type Flow } from './flow.js';

/** Most start nodes of one batch. */
export const batchMax = 1_000;

const FlowBatchFailure = Type.Object(
  {
    index: Type.Integer({ description: 'Place in the request, counted from 0.' }),
    error: FlowError,
  },
  { description: 'Why a start node was not carried out.' },
);

const FlowBatchDone = Type.Object(
  {
    output: nullable(
      Type.Unsafe<Record<string, unknown>>({
        description:
          'The record that the flow made or changed; null where the outputs before it have 8 MiB: ' +
          'its execution has it.',
        type: 'object',
        freeObject: true,
      }),
    ),
    flowExecutionId: ExecutionResult.properties.flowExecutionId,
  },
  { description: 'What the flow answers for a start node.' },
);

/** What became of a batch; the shape is that of bulk records (spec/platform.md R32). */
export const FlowBatchResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether none failed.' }),
    totalProcessed: Count('The number of start nodes.'),
    completed: Count('How many were carried out.'),
    failed: Count('How many were not.'),
    data: Type.Array(
      Type.Unsafe<Static<typeof FlowBatchDone> | Static<typeof FlowBatchFailure>>({
        anyOf: [FlowBatchDone, FlowBatchFailure],
        description: 'The result of a start node, or why it was not carried out.',
      }),
      { description: 'One entry for each start node, in the order of the request.' },
    ),
  },
  { description: 'What became of the start nodes.' },
);

/** The operation that runs a flow many times: `POST /run/{slug}/batch`. */
export const flowBatchOperation = (workflow: string, declared: Flow) =>
  operation({
    id: `run${workflow.charAt(0).toUpperCase()}${workflow.slice(1)}Batch`,
    method: 'POST',
    path: external(`/run/${declared.slug}/batch`),
    tag: 'Flows',
    family: 'flows',
    summary: `${declared.name}, for up to 1,000 start nodes at once`,
    description:
      'Each start node stands alone, in the order of the request: it has an execution and an answer ' +
      'of its own, and one that fails does not keep the others from being carried out. Sent again ' +
      'with its Idempotency-Key, a batch is answered as the first time.',
    idempotency: 'flow',
    weight: 'heavy',
    isAddition: true,
    access: declared.entity === 'service' ? 'admin' : 'operator',
    body: Type.Object(
      {
        data: Type.Array(
          Type.Unsafe<unknown>({
            description: `A start node of ${declared.name}.`,
            documented: flowBody(declared),
          }),
          { minItems: 1, maxItems: batchMax, description: 'The start nodes.' },
        ),
      },
      { additionalProperties: false, description: `Start nodes of ${declared.name}.` },
    ),
    example: { data: [declared.example] },
    success: reply.dto(FlowBatchResult),
    errors: [400, 409, 504],
  });
