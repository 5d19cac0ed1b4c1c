import { Type, type Static } from 'typebox';
import { FreeObject, Instant, nullable, Uuid } from '../fields/field.js';

const closed = { additionalProperties: false } as const;

const FakeResult = Type.Object(
  {
    output: Type.Optional(
      Type.Unknown({
        description:
          'What it gives; of an approval `{"decision": "approve"}`, `reject`, or `timeout`.',
      }),
    ),
    error: Type.Optional(
      Type.Object(
        {
          status: Type.Integer({ minimum: 400, maximum: 599, description: 'Its status.' }),
          type: Type.Optional(Type.String({ description: 'Its type, a URI.' })),
          title: Type.Optional(Type.String({ description: 'Its title.' })),
          detail: Type.Optional(Type.String({ description: 'What is wrong.' })),
        },
        { ...closed, description: 'How it fails, instead.' },
      ),
    ),
  },
  { ...closed, description: 'What a task is said to give.' },
);

export const DryRunBody = Type.Object(
  {
    input: Type.Optional(FreeObject('The input of the workflow; left out: {}.')),
    results: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Union([FakeResult, Type.Array(FakeResult, { minItems: 1, maxItems: 100 })]),
        {
          description:
            'What calls and approvals give, by the path or the name of their task; a list: one run after the other, the last one from then on. A call that is not named gives null, an approval is given.',
        },
      ),
    ),
  },
  { ...closed, description: 'What a dry run begins with.' },
);
export type DryRunBody = Static<typeof DryRunBody>;

const DryTask = Type.Object(
  {
    seq: Type.Integer({ description: 'Which run of a task it is, from 1.' }),
    path: Type.String({ description: 'JSON pointer to the task in its definition.' }),
    name: Type.String({ description: 'Name of the task.' }),
    kind: Type.String({ description: 'What it is: call, set, for, ...' }),
    status: Type.String({ description: 'running, completed, failed, skipped or canceled.' }),
    attempts: Type.Integer({ description: 'How often it would be tried.' }),
    input: Type.Unknown({ description: 'What it is given.' }),
    output: Type.Unknown({ description: 'What it gives.' }),
    error: Type.Unknown({ description: 'Why it fails.' }),
    startedAt: Type.String({ description: 'When it would begin.' }),
    endedAt: nullable(Type.String({ description: 'When it would end.' })),
  },
  { description: 'A run of a task.' },
);

const DryCall = Type.Object(
  {
    seq: Type.Integer({ description: 'The run of the task.' }),
    path: Type.String({ description: 'JSON pointer to the task in its definition.' }),
    call: Type.String({ description: 'What would be called.' }),
    with: Type.Unknown({ description: 'With what; a secret is shown as a mark.' }),
    isUndo: Type.Boolean({ description: 'Whether it takes back what a task did.' }),
    isFaked: Type.Boolean({ description: 'Whether `results` says what it gives.' }),
  },
  { description: 'A call that an execution would make.' },
);

export const DryRun = Type.Object(
  {
    workflowId: Uuid('Id of the workflow.'),
    version: Type.Integer({ description: 'The version that ran.' }),
    status: Type.String({
      description: 'completed, failed, or stopped: it was more than a dry run may be.',
    }),
    output: Type.Unknown({ description: 'What an execution would put out.' }),
    error: Type.Unknown({ description: 'Why it would fail: that of its task.' }),
    undone: Type.Array(Type.String(), { description: 'Tasks that would be undone, newest first.' }),
    startedAt: Instant('Now, of the tenant.'),
    endedAt: Instant('When it would have ended if nobody and nothing took its time.'),
    tasks: Type.Array(DryTask, { description: 'The runs of tasks, in the order of their begin.' }),
    calls: Type.Array(DryCall, { description: 'What would be called, in its order.' }),
  },
  { description: 'What an execution would do.' },
);
export type DryRunDto = Static<typeof DryRun>;
