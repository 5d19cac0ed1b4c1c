import { Type, type Static } from 'typebox';
import { FreeObject, Instant, nullable, optional, Text, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';

const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description });

const statuses = ['pending', 'approved', 'rejected', 'expired', 'canceled'] as const;
const kinds = ['account', 'contract', 'service', 'workflow'] as const;
const decisions = ['approve', 'reject'] as const;

export const ApprovalDecision = Type.Object(
  {
    decision: oneOf(decisions, 'What was decided.'),
    reason: nullable(Type.String({ description: 'Why, where it was said.' })),
    decidedBy: Type.String({ description: 'Who decided.' }),
    decidedAt: Instant('When.'),
  },
  { description: 'What one person has decided.' },
);

const ApprovalTask = Type.Object(
  {
    workflowId: Uuid('Id of the workflow.'),
    workflowName: Type.String({ description: 'Its name.' }),
    executionId: Uuid('Id of the execution that waits.'),
    task: Type.String({ description: 'JSON pointer of the task in the definition.' }),
    startedBy: Type.String({ description: 'Who started the execution.' }),
    notStarter: Type.Boolean({ description: 'Whether who started it may not approve it.' }),
    dueAt: Instant('When it stops waiting.'),
    onTimeout: oneOf(['reject', 'approve', 'fail'], 'What becomes of it then.'),
  },
  { description: 'The task of a workflow of your own that waits for it.' },
);

export const Approval = Type.Object(
  {
    id: Uuid('Id of the approval; of an account, contract or service it is the id of the record.'),
    status: oneOf(statuses, 'How it stands; expired: nobody decided in time.'),
    kind: oneOf(kinds, 'What is approved: a record, or a step of a workflow of your own.'),
    title: Type.String({ description: 'What it is about, in one line.' }),
    accountId: nullable(
      Uuid('The account that is approved, or whose contract is; null of services and workflows.'),
    ),
    details: nullable(FreeObject('What the workflow gives to decide by; null of records.')),
    roles: Type.Array(Type.String(), { description: 'Roles of which one is needed, exactly.' }),
    quorum: Type.Integer({ description: 'How many different people have to approve.' }),
    before: nullable(FreeObject('What is, of that which approving would change.')),
    after: nullable(FreeObject('What would be, or is, once it is approved.')),
    decisions: Type.Array(ApprovalDecision, { description: 'What was decided, oldest first.' }),
    execution: nullable(ApprovalTask),
    createdAt: Instant('Since when it waits; of a record, when that was made.'),
    decidedAt: nullable(Instant('When it was decided, or ended.')),
  },
  { description: 'Something that waits for a yes or a no, or did.' },
);
export type ApprovalDto = Static<typeof Approval>;

export const DecisionBody = Type.Object(
  {
    decision: oneOf(decisions, 'What you decide.'),
    reason: optional(Text('Why.', 1000)),
  },
  { additionalProperties: false, description: 'A decision.' },
);
export type DecisionBody = Static<typeof DecisionBody>;

const place = { tag: 'Approvals', family: 'records', isAddition: true } as const;

/** spec/beyond.md R350 to R354. */
export const approvalOperations = {
  list: operation({
    id: 'listApprovals',
    method: 'GET',
    path: '/v1/approvals',
    ...place,
    summary: 'List what waits for approval, and what was decided',
    query: Type.Object({
      ...offsetQuery,
      status: Type.Optional(oneOf(statuses, 'Those that stand so.')),
      kind: Type.Optional(oneOf(kinds, 'Those of this kind.')),
    }),
    details:
      'Accounts, contracts and services that are not approved yet, and steps of workflows of your own that wait, the newest first. A record whose draft is not completed does not wait.',
    success: reply.offsetPage(Approval),
    errors: [400],
  }),
  get: operation({
    id: 'getApproval',
    method: 'GET',
    path: '/v1/approvals/{approvalId}',
    ...place,
    summary: 'Read an approval',
    details:
      'With what would change, before and after, and who decided what. Of a record that waits, `after` is all of it, with its cards, lines or addresses, as approving it leaves it, and `before` what of it was approved last: nothing of one that never was; of one that was, both have its own fields alone.',
    success: reply.dto(Approval),
    errors: [404],
  }),
  decide: operation({
    id: 'decideApproval',
    method: 'POST',
    path: '/v1/approvals/{approvalId}',
    ...place,
    summary: 'Approve or reject what waits',
    body: DecisionBody,
    example: { decision: 'approve', reason: 'The customer is known.' },
    access: 'operator',
    idempotency: 'flow',
    description:
      'Once: what is decided stays so. One of its roles is needed, exactly; prices of services need ADMIN.',
    details:
      '409 when it is decided, by whomever; of two decisions at the same moment one counts. With a quorum each person approves once, and one rejection rejects. 403 without its role, and where who started it may not approve. A rejected record can be approved later by its flow.',
    success: reply.dto(Approval),
    errors: [400, 404, 409, 504],
  }),
};
