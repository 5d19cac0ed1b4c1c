import { Type } from 'typebox';
import type { ExecutionStatus } from '../../messages/flow-run.js';

import { exampleIds } from '../openapi/examples.js';
import { FreeObject, Instant, nullable, Uuid } from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { offsetQuery, WholeNumber } from '../http/paging.js';
import { WebhookDelivery } from '../webhooks/webhook.js';

const field = Type.Object(
  {
    type: Type.Unknown({ description: 'The type of the field.' }),
    title: Type.String({ description: 'What people read.' }),
  },
  { additionalProperties: true, description: 'A field of the start node.' },
);

/** What callers need to know to run a flow (spec/flows.md R10). */
export const FlowContract = Type.Object(
  {
    flowId: Uuid('Id of the flow.'),
    flowName: Type.String({ description: 'Name of the flow.' }),
    description: nullable(Type.String({ description: 'What it does.' })),
    endpoint: Type.Object(
      {
        method: Type.Literal('POST', { description: 'The method.' }),
        path: Type.String({ description: 'The path with the slug.' }),
        urlTemplate: Type.String({ description: 'The whole address.' }),
        headers: Type.Object(
          {
            'Content-Type': Type.String({ description: 'Type of the body.' }),
            Accept: Type.String({ description: 'Type of the answer.' }),
            Authorization: Type.String({ description: 'How to authenticate.' }),
          },
          { description: 'Headers to send.' },
        ),
        contentType: Type.String({ description: 'Type of the body.' }),
      },
      { description: 'Where to send it.' },
    ),
    requestBody: Type.Object(
      {
        type: Type.Literal('object', { description: 'An object.' }),
        properties: Type.Record(Type.String(), field, { description: 'The fields.' }),
      },
      { additionalProperties: true, description: 'JSON Schema of the start node.' },
    ),
    requiredFields: Type.Array(Type.String(), { description: 'Fields that must be sent.' }),
    optionalFields: Type.Array(Type.String(), { description: 'Fields that may be left out.' }),
  },
  { description: 'The contract of a flow.' },
);

/** A version of a tenant's workflow. */
const WorkflowVersionRow = Type.Object(
  {
    version: Type.Integer({ description: 'Its number, from 1.' }),
    hash: Type.String({ description: 'SHA-256 of its definition.' }),
    publishedBy: Type.String({ description: 'Who published it; what it calls has their roles.' }),
    createdAt: Instant('When it was published.'),
  },
  { description: 'A version of a workflow.' },
);

const ConditionFaultRow = Type.Object(
  {
    at: Instant('When it was.'),
    version: Type.Integer({ description: 'The version whose condition it was.' }),
    event: Type.String({ description: 'The kind of the event.' }),
    executionId: nullable(
      Uuid('The execution that would have heard the event; null: it would have started one.'),
    ),
    reason: Type.String({ description: 'Why it could not be evaluated.' }),
  },
  { description: 'A condition on an event that could not be evaluated: it did not hold.' },
);

/** A workflow that can be executed (spec/flows.md R22). */
export const Workflow = Type.Object(
  {
    id: Uuid('Id of the workflow: its flowId.'),
    name: Type.String({ description: 'Its name, which may stand for the id.' }),
    title: Type.String({ description: 'What people call it.' }),
    description: Type.String({ description: 'What it does.' }),
    slug: nullable(Type.String({ description: 'The slug of its flow, if it has one.' })),
    dataSchema: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      freeObject: true,
      description: 'JSON Schema of `data`.',
    }),
    version: nullable(
      Type.Integer({
        description: 'The version that executions begin with; null: it is built in.',
      }),
    ),
    hash: nullable(
      Type.String({ description: 'SHA-256 of the definition; null: it is built in.' }),
    ),
    definition: Type.Optional(FreeObject('The definition of a workflow of your own.')),
    versions: Type.Optional(
      Type.Array(WorkflowVersionRow, { description: 'The last 100 versions, the newest first.' }),
    ),
    conditionFault: Type.Optional(nullable(ConditionFaultRow)),
  },
  { description: 'A workflow.' },
);

const ExecutionError = Type.Object(
  {
    code: Type.String({
      description:
        'A stable code. Of workflows of your own: that of the task, e.g. NOT_FOUND; BAD_GATEWAY, what another server answered; LIMIT_REACHED, what an execution may have at most is used up; CONFLICT, all else that a definition raises; INTERNAL_ERROR, a fault of ours.',
    }),
    message: Type.String({ description: 'Why it failed.' }),
    status: Type.Integer({ description: 'The HTTP status that stands for it.' }),
    details: FreeObject('What there is to know beside: the field at fault, steps taken back.'),
  },
  { description: 'Why an execution failed.' },
);

const statuses: readonly ExecutionStatus[] = [
  'running',
  'completed',
  'failed',
  'canceled',
  'terminated',
  'timed_out',
];
export const ExecutionState = Type.Unsafe<ExecutionStatus>({
  type: 'string',
  enum: statuses,
  description: 'How it stands.',
});

/** An execution of a workflow (spec/flows.md R23). */
export const Execution = Type.Object(
  {
    executionId: Uuid('Id of the execution.'),
    status: ExecutionState,
    workflowId: Uuid('Id of the workflow.'),
    workflowName: Type.String({ description: 'Name of the workflow.' }),
    workflowVersion: nullable(
      Type.Integer({ description: 'The version that it keeps to; null: it is built in.' }),
    ),
    input: nullable(FreeObject('What it was given.')),
    output: Type.Unknown({
      description: 'What it gave: an object, of workflows of your own any value.',
    }),
    error: nullable(ExecutionError),
    actor: nullable(Type.String({ description: 'Who asked for it.' })),
    temporalUrl: nullable(Type.String({ description: 'Where the Temporal UI shows it.' })),
    startedAt: Instant('When it started.'),
    completedAt: nullable(Instant('When it ended.')),
  },
  { description: 'An execution of a workflow.' },
);

export const ExecuteBody = Type.Object(
  {
    data: FreeObject('The input; see `dataSchema` of the workflow.'),
    async: Type.Optional(
      Type.Boolean({ description: 'Whether to answer at once; false when left out.' }),
    ),
  },
  { additionalProperties: false, description: 'An execution to start.' },
);

const flowTag = 'Flows';

export const flowContractOperations = {
  list: operation({
    id: 'listFlowContracts',
    method: 'GET',
    path: external('/api-contract'),
    tag: flowTag,
    summary: 'List the contracts of all flows',
    details: 'Which fields each flow takes, and which of them are required.',
    success: reply.dto(Type.Array(FlowContract, { description: 'The contracts.' })),
    errors: [],
  }),
  get: operation({
    id: 'getFlowContract',
    method: 'GET',
    path: external('/api-contract/{flowId}'),
    tag: flowTag,
    summary: 'Read the contract of a flow',
    details: 'With a JSON Schema of the body, and the address to send it to.',
    success: reply.dto(FlowContract),
    errors: [404],
  }),
};

const place = {
  tag: 'Workflows',
  family: 'records',
  rateLimit: 'requests',
  textParams: ['workflowId'],
} as const;

export const executionOperations = {
  listWorkflows: operation({
    id: 'listWorkflows',
    method: 'GET',
    path: '/v1/workflows',
    ...place,
    summary: 'List the workflows that can be executed',
    query: Type.Object(offsetQuery),
    details:
      'All flows, those that have no slug, such as billing-run, and those of your own; each with the JSON Schema of its data.',
    success: reply.offsetPage(Workflow),
    errors: [400],
  }),
  getWorkflow: operation({
    id: 'getWorkflow',
    method: 'GET',
    path: '/v1/workflows/{workflowId}',
    ...place,
    summary: 'Read a workflow by its id or name',
    query: Type.Object({
      version: Type.Optional(
        WholeNumber({
          minimum: 1,
          cap: 1_000_000,
          description: 'Which version of one of your own; left out: the one that is live.',
        }),
      ),
    }),
    details: 'With the JSON Schema of its data; one of your own with its definition and versions.',
    success: reply.dto(Workflow),
    errors: [400, 404],
  }),
  execute: operation({
    id: 'executeWorkflow',
    method: 'POST',
    path: '/v1/workflows/{workflowId}/execute',
    ...place,
    summary: 'Execute a workflow, and wait for its end or not',
    idempotency: 'flow',
    body: ExecuteBody,
    writtenPart: 'data',
    example: { data: { id: exampleIds.account, net_term: 'Net 30' }, async: false },
    access: 'operator',
    details:
      'One that fails is answered with 200 and status failed, with its error. With async true the answer comes at once, with status running.',
    success: reply.dto(Execution),
    errors: [400, 404, 409, 504],
  }),
  list: operation({
    id: 'listExecutions',
    method: 'GET',
    path: '/v1/workflows/{workflowId}/executions',
    ...place,
    summary: 'List the executions of a workflow, the latest first',
    query: Type.Object({ ...offsetQuery, status: Type.Optional(ExecutionState) }),
    details: 'Filter by status: running, completed, failed, canceled, terminated, timed_out.',
    success: reply.offsetPage(Execution),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getExecution',
    method: 'GET',
    path: '/v1/workflows/{workflowId}/executions/{executionId}',
    ...place,
    summary: 'Read an execution',
    details: 'Who asked, with what, what came of it, and where Temporal shows each step.',
    success: reply.dto(Execution),
    errors: [404],
  }),
  deliveries: operation({
    id: 'listExecutionDeliveries',
    isAddition: true,
    method: 'GET',
    path: '/v1/workflows/{workflowId}/executions/{executionId}/deliveries',
    ...place,
    summary: 'List the webhook deliveries that followed an execution, the latest first',
    query: Type.Object(offsetQuery),
    details:
      'To all webhooks: of its end, and of what it changed, or the request that started it. Kept for 30 days.',
    success: reply.offsetPage(WebhookDelivery),
    errors: [400, 404],
  }),
  cancel: operation({
    id: 'cancelExecution',
    isAddition: true,
    method: 'POST',
    path: '/v1/workflows/{workflowId}/executions/{executionId}/cancel',
    ...place,
    summary: 'Cancel an execution that runs',
    access: 'operator',
    // Asked of Temporal; canceling twice is canceling once.
    idempotency: 'none',
    details:
      'What tasks of a workflow of your own did is taken back; what steps of one that is built in have written stays. 409 when it has ended.',
    success: reply.dto(Execution),
    errors: [404, 409],
  }),
};
