import { Type, type Static } from 'typebox';
import { FreeObject, Instant, nullable, Text, Uuid } from '../fields/field.js';
import { examples } from '../openapi/examples.js';
import { operation, reply } from '../http/operation.js';
import { DryRun, DryRunBody } from './dry-run.js';
import { ApprovalDecision } from './approval.js';
import { Flag, offsetQuery } from '../http/paging.js';

export const DefinitionBody = Type.Object(
  { definition: FreeObject('The definition; `GET /v1/workflows/schema` says what it may have.') },
  { additionalProperties: false, description: 'A workflow of your own.' },
);

export const NewVersionBody = Type.Object(
  {
    ...DefinitionBody.properties,
    basedOn: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'The version that was read and changed: where another one is live by now, nothing is published (409).',
      }),
    ),
  },
  { additionalProperties: false, description: 'A new version of a workflow of your own.' },
);

export const PublishedVersion = Type.Object(
  {
    id: Uuid('Id of the workflow.'),
    name: Type.String({ description: 'Its name.' }),
    version: Type.Integer({ description: 'The version that was published, from 1.' }),
    hash: Type.String({ description: 'SHA-256 of the definition.' }),
  },
  { description: 'What was published.' },
);

export const DefinitionFault = Type.Object(
  {
    pointer: Type.String({ description: 'JSON pointer to what is at fault.' }),
    message: Type.String({ description: 'What is wrong, and what would have been right.' }),
  },
  { description: 'What is wrong with a definition.' },
);

export const DefinitionCheckReply = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether it would be taken.' }),
    faults: Type.Array(DefinitionFault, { description: 'All that is wrong, each at its place.' }),
  },
  { description: 'What a check of a definition has found.' },
);

export const WorkflowSecretName = Type.Object(
  {
    name: Type.String({ description: 'Its name.' }),
    createdAt: Instant('When it was made.'),
    updatedAt: Instant('When it was given its value last.'),
  },
  { description: 'A secret, without its value.' },
);

export const SecretBody = Type.Object(
  { value: Text('The secret; it is never shown again.', 4_000) },
  { additionalProperties: false, description: 'The value of a secret.' },
);

export const WorkflowTaskRow = Type.Object(
  {
    seq: Type.Integer({ description: 'Which run of a task of the execution it is, from 1.' }),
    path: Type.String({ description: 'JSON pointer to the task in its definition.' }),
    workflowVersion: nullable(
      Type.Integer({ description: 'The version of the definition that it is a task of.' }),
    ),
    name: Type.String({ description: 'Name of the task.' }),
    kind: Type.String({ description: 'What it is: call, set, for, ...' }),
    status: Type.String({ description: 'running, completed, failed, skipped or canceled.' }),
    attempts: Type.Integer({ description: 'How often it was tried.' }),
    input: Type.Unknown({ description: 'What it was given; cut where it is long.' }),
    output: Type.Unknown({ description: 'What it gave; cut where it is long.' }),
    error: Type.Unknown({ description: 'Why it failed: type, status, title, detail, instance.' }),
    startedAt: Instant('When it began.'),
    endedAt: nullable(Instant('When it ended.')),
    undoneAt: nullable(Instant('When it was taken back.')),
    approval: nullable(
      Type.Object(
        {
          id: Uuid('Id of the approval.'),
          status: Type.String({ description: 'How it stands, or ended.' }),
          decisions: Type.Array(ApprovalDecision, {
            description: 'Who decided what, oldest first.',
          }),
        },
        { description: 'The approval that it waits for, or waited for.' },
      ),
    ),
  },
  { description: 'A run of a task.' },
);

const place = { tag: 'Workflows', family: 'records', isAddition: true } as const;
const ofOne = { ...place, textParams: ['workflowId'], rateLimit: 'requests' } as const;

/** spec/beyond.md R320 to R326. */
export const definitionOperations = {
  schema: operation({
    id: 'getWorkflowSchema',
    method: 'GET',
    path: '/v1/workflows/schema',
    ...place,
    rateLimit: 'requests',
    summary: 'Read the JSON Schema of a definition',
    details: 'For editors, generators and whoever writes one: exactly what is taken.',
    success: reply.dto(FreeObject('The JSON Schema.')),
    errors: [],
  }),
  validate: operation({
    id: 'validateWorkflow',
    method: 'POST',
    path: '/v1/workflows/validate',
    ...place,
    rateLimit: 'requests',
    summary: 'Check the definition of a workflow without saving it',
    body: DefinitionBody,
    writtenPart: 'definition',
    example: examples.workflow,
    isReadOnly: true,
    access: 'reader',
    details:
      'All faults at once, each with a JSON pointer to its place: form, expressions, names of operations and secrets, where a task goes on, limits.',
    success: reply.dto(DefinitionCheckReply),
    errors: [400],
  }),
  create: operation({
    id: 'createWorkflow',
    method: 'POST',
    path: '/v1/workflows',
    ...place,
    rateLimit: 'requests',
    summary: 'Define a workflow of your own',
    body: DefinitionBody,
    writtenPart: 'definition',
    example: examples.workflow,
    description:
      'A definition in the structure of the Open Workflow Specification 1.0 with expressions in CEL. What it calls runs with the roles of whoever published it.',
    details:
      'A definition with faults is 400 with all of them under `faults`. Its name is that of `document.name`, unique, and none of the built-in ones.',
    success: reply.created(PublishedVersion),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateWorkflow',
    method: 'PUT',
    path: '/v1/workflows/{workflowId}',
    ...ofOne,
    summary: 'Publish a new version of a workflow of your own',
    body: NewVersionBody,
    writtenPart: 'definition',
    example: examples.workflow,
    details:
      'Executions that run keep to the version that they began with. The same definition again changes nothing. A workflow keeps its name.',
    success: reply.dto(PublishedVersion),
    errors: [400, 404, 409],
  }),
  simulate: operation({
    id: 'simulateWorkflow',
    method: 'POST',
    path: '/v1/workflows/{workflowId}/simulate',
    ...ofOne,
    summary: 'Run a workflow of your own dry',
    body: DryRunBody,
    writtenPart: '',
    example: { input: { amount: 12_000 } },
    isReadOnly: true,
    access: 'reader',
    description:
      'What an execution would do with this input, and with the results that you say calls have. Nothing is called and nothing written; waits are over at once, and their time is counted.',
    details:
      'At most 1,000 runs of tasks, 1 MB, twenty seconds and a fiftieth of the cost of an execution; what is more ends as `stopped`, or as the task that fails.',
    success: reply.dto(DryRun),
    errors: [400, 404, 409],
  }),
  timeline: operation({
    id: 'getExecutionTimeline',
    method: 'GET',
    path: '/v1/workflows/{workflowId}/executions/{executionId}/timeline',
    ...ofOne,
    query: Type.Object(offsetQuery),
    summary: 'List the tasks of an execution of a workflow of your own',
    details:
      'In the order in which they began, each with what it was given and gave, and why it failed.',
    success: reply.offsetPage(WorkflowTaskRow),
    errors: [400, 404],
  }),
  delete: operation({
    id: 'deleteWorkflow',
    method: 'DELETE',
    path: '/v1/workflows/{workflowId}',
    ...ofOne,
    query: Type.Object({
      force: Flag('Whether to cancel executions that run; without, a workflow that runs stays.'),
    }),
    summary: 'Delete a workflow of your own',
    details:
      '409 while it runs, unless `force` cancels what runs. Its name is free again; its executions can be read as before.',
    success: reply.empty(),
    errors: [400, 404, 409],
  }),
};

export const secretOperations = {
  list: operation({
    id: 'listSecrets',
    method: 'GET',
    path: '/v1/secrets',
    ...place,
    summary: 'List the names of secrets',
    query: Type.Object(offsetQuery),
    details: 'Names only: a value is never shown.',
    success: reply.offsetPage(WorkflowSecretName),
    errors: [400],
  }),
  put: operation({
    id: 'putSecret',
    method: 'PUT',
    path: '/v1/secrets/{name}',
    ...place,
    summary: 'Give a secret its value',
    body: SecretBody,
    example: examples.secret,
    details:
      'Workflows of your own send it with `http`, as `secrets.NAME`. It is sealed, and appears in no answer, history or log.',
    success: reply.dto(WorkflowSecretName),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteSecret',
    method: 'DELETE',
    path: '/v1/secrets/{name}',
    ...place,
    summary: 'Delete a secret',
    details: 'A call that needs it fails from then on.',
    success: reply.empty(),
    errors: [404],
  }),
};

export type DefinitionFaultDto = Static<typeof DefinitionFault>;
