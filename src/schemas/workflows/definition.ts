import { Type, type TSchema } from 'typebox';
import type { TaskKind } from '../../messages/definitions/definition.js';
import { ends, eventKinds, reservedNames, schemaForm } from './definition-names.js';
import { Call, publishedCall, UndoCall } from './call.js';
import { closed, Condition, Duration, publish, Value } from './definition-part.js';

/**
 * The form of a definition, once: `GET /v1/workflows/schema` shows it, and each part is checked with it
 * (docs/decisions/0410). A list of tasks is checked task by task, so that a fault is at its place and
 * not "matches none of eleven kinds".
 */
const TaskListRef = Type.Unsafe<unknown>({ $ref: '#/$defs/taskList' });
/** A name of a task. */
export const taskName = '^[A-Za-z_][A-Za-z0-9_-]{0,62}$';
const Name = (description: string) => Type.String({ description, pattern: taskName });
const variable = '^[A-Za-z_][A-Za-z0-9_]{0,31}$';
const Variable = (description: string) =>
  Type.String({ description, pattern: variable, published: { not: { enum: [...reservedNames] } } });
const Schema = Type.Object(
  {
    format: Type.Literal('json', { description: 'json alone.' }),
    document: Type.Unsafe<unknown>({
      description:
        'A JSON Schema: type, properties, required, additionalProperties, items, enum, const, format (date, date-time, uuid), minimum, maximum and lengths.',
      type: ['object', 'boolean'],
      published: { $ref: '#/$defs/schema' },
    }),
  },
  closed,
);
const As = (description: string) => Type.Object({ as: Value(description) }, closed);

const common = {
  if: Type.Optional(Condition('Whether the task is done.')),
  input: Type.Optional(
    Type.Object(
      {
        schema: Type.Optional(Schema),
        from: Type.Optional(Value('What the task is given, instead of what the one before gave.')),
      },
      closed,
    ),
  ),
  output: Type.Optional(As('What the next task is given, instead of what this one gives.')),
  export: Type.Optional(As('What `context` is from here on.')),
  then: Type.Optional(Name('continue, exit (leave this list), end, or a later task of the list.')),
  'durabill.undo': Type.Optional(
    Type.Object(UndoCall, {
      ...closed,
      published: publishedCall,
      description: 'What takes the task back when the execution fails later, newest first.',
    }),
  ),
};

const ErrorFilter = Type.Object(
  {
    type: Type.Optional(Type.String({ description: 'Type of the error.' })),
    status: Type.Optional(Type.Integer({ description: 'Status of the error.' })),
    title: Type.Optional(Type.String({ description: 'Title of the error.' })),
  },
  closed,
);
const Nothing = Type.Optional(Type.Object({}, closed));
const Retry = Type.Object(
  {
    delay: Type.Optional(Duration('How long to wait before the next attempt.')),
    backoff: Type.Optional(
      Type.Object(
        { constant: Nothing, linear: Nothing, exponential: Nothing },
        { ...closed, minProperties: 1, maxProperties: 1, description: 'How the delay grows.' },
      ),
    ),
    limit: Type.Optional(
      Type.Object(
        {
          attempt: Type.Object(
            { count: Type.Integer({ minimum: 1, maximum: 100, description: 'Attempts in all.' }) },
            closed,
          ),
        },
        closed,
      ),
    ),
  },
  closed,
);
const EventFilter = Type.Object(
  {
    with: Type.Object(
      {
        type: Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'Kind of the event.',
          published: eventKinds.any,
        }),
        data: Type.Optional(Condition('A condition on `data`, what the event says.')),
      },
      closed,
    ),
  },
  closed,
);

/** One form for each kind of task. */
const kinds: Readonly<Record<TaskKind, Readonly<Record<string, TSchema>>>> = {
  call: Call,
  do: { do: TaskListRef },
  for: {
    for: Type.Object(
      {
        each: Type.Optional(Variable('Name of the element, item when left out.')),
        in: Condition('The list.'),
        at: Type.Optional(Variable('Name of its place, from 0; index when left out.')),
      },
      closed,
    ),
    while: Type.Optional(Condition('Whether to go on.')),
    do: TaskListRef,
  },
  fork: {
    fork: Type.Object(
      {
        branches: TaskListRef,
        compete: Type.Optional(
          Type.Boolean({ description: 'Whether the first to end is enough.' }),
        ),
      },
      closed,
    ),
  },
  switch: {
    switch: Type.Array(
      Type.Unsafe<unknown>({
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: {
          type: 'object',
          required: ['then'],
          additionalProperties: false,
          properties: {
            when: Condition('When this case holds; left out: always.'),
            then: Name('continue, exit, end, or a later task of the list.'),
          },
        },
      }),
      { minItems: 1, maxItems: 50, description: 'The first case that holds decides.' },
    ),
  },
  set: {
    set: Type.Unsafe<unknown>({
      description: 'The output: an object whose texts may be expressions, or one expression.',
      type: ['object', 'string'],
    }),
  },
  try: {
    try: TaskListRef,
    catch: Type.Object(
      {
        errors: Type.Optional(Type.Object({ with: Type.Optional(ErrorFilter) }, closed)),
        as: Type.Optional(Variable('Name of the error, error when left out.')),
        when: Type.Optional(Condition('Only errors for which it holds.')),
        exceptWhen: Type.Optional(Condition('No errors for which it holds.')),
        retry: Type.Optional(Retry),
        do: Type.Optional(TaskListRef),
      },
      closed,
    ),
  },
  raise: {
    raise: Type.Object(
      {
        error: Type.Object(
          {
            type: Type.String({ description: 'Type of the error, a URI.' }),
            status: Type.Integer({ minimum: 400, maximum: 599, description: 'Its status.' }),
            title: Type.Optional(Type.String({ description: 'Its title.' })),
            detail: Type.Optional(
              Type.String({ description: 'What is wrong; may be an expression.' }),
            ),
          },
          closed,
        ),
      },
      closed,
    ),
  },
  wait: { wait: Duration('How long.') },
  listen: {
    listen: Type.Object(
      {
        to: Type.Object(
          {
            one: Type.Optional(EventFilter),
            any: Type.Optional(Type.Array(EventFilter, { minItems: 1, maxItems: 10 })),
          },
          { ...closed, published: { minProperties: 1, maxProperties: 1 } },
        ),
        timeout: Type.Optional(Duration('How long at most; then the task fails with status 408.')),
        read: Type.Optional(
          Type.Unsafe<string>({
            type: 'string',
            enum: ['data', 'envelope'],
            description:
              'What the list has that the task gives: what the event says, or with its type and time.',
          }),
        ),
      },
      closed,
    ),
  },
  emit: {
    emit: Type.Object(
      {
        event: Type.Object(
          {
            with: Type.Object(
              {
                type: Type.String({
                  minLength: 1,
                  maxLength: 100,
                  description: 'Its kind.',
                  published: eventKinds.own,
                }),
                data: Type.Optional(Value('What it says; texts may be expressions.')),
              },
              closed,
            ),
          },
          closed,
        ),
      },
      closed,
    ),
  },
};

/** The form of each kind of task. */
export const taskForms = Object.entries(kinds).map(
  ([kind, properties]) =>
    [
      kind as TaskKind,
      Type.Object(
        { ...properties, ...common },
        { ...closed, published: kind === 'call' ? publishedCall : {} },
      ),
    ] as const,
);

/** None that stands for something else in the path of an operation. */
const workflowName =
  '^(?!(schema|validate)$)(?![0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';

export const Head = Type.Object(
  {
    document: Type.Object(
      {
        dsl: Type.String({
          pattern: '^1\\.0\\.\\d+$',
          description: 'Version of the structure: 1.0.0.',
        }),
        namespace: Type.String({ minLength: 1, maxLength: 63, description: 'Yours to choose.' }),
        name: Type.String({
          pattern: workflowName,
          description:
            'Unique among the workflows of a tenant: small letters, digits and hyphens; not schema, validate or what looks like an id.',
        }),
        version: Type.String({
          pattern: '^\\d+\\.\\d+\\.\\d+$',
          description: 'A version of yours, three numbers: 1.0.0.',
        }),
        title: Type.Optional(Type.String({ maxLength: 255, description: 'What people call it.' })),
        summary: Type.Optional(Type.String({ maxLength: 4000, description: 'What it does.' })),
      },
      closed,
    ),
    input: Type.Optional(Type.Object({ schema: Schema }, closed)),
    output: Type.Optional(As('What an execution puts out, instead of what its last task gives.')),
    do: TaskListRef,
    schedule: Type.Optional(
      Type.Object(
        {
          on: Type.Optional(Type.Object({ one: EventFilter }, closed)),
          cron: Type.Optional(
            Type.String({
              maxLength: 100,
              description: 'Minute, hour, day, month and day of the week.',
            }),
          ),
          timeZone: Type.Optional(
            Type.String({
              maxLength: 64,
              description: 'Of cron, such as Europe/Berlin; UTC when left out.',
            }),
          ),
        },
        {
          ...closed,
          published: {
            oneOf: [{ required: ['on'], properties: { timeZone: false } }, { required: ['cron'] }],
          },
        },
      ),
    ),
  },
  closed,
);

/** A list of tasks without what its tasks are. */
export const shallowList = {
  type: 'array',
  minItems: 1,
  items: { type: 'object', minProperties: 1, maxProperties: 1 },
};

/** JSON Schema of a definition, for editors and generators. */
export const definitionSchema = publish({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A workflow of a tenant',
  description:
    'A part of the Open Workflow Specification 1.0. Expressions are CEL, ${ ... }, over input, output, context, secrets, workflow and the names of loops and catches.',
  ...Head,
  $defs: {
    taskList: {
      description: 'Tasks in their order, each under a name of its own.',
      ...shallowList,
      items: {
        ...shallowList.items,
        additionalProperties: { $ref: '#/$defs/task' },
        propertyNames: { pattern: taskName, not: { enum: [...ends] } },
      },
    },
    task: { oneOf: taskForms.map(([kind]) => ({ $ref: `#/$defs/${kind}` })) },
    schema: schemaForm,
    ...Object.fromEntries(taskForms),
  },
}) as Readonly<Record<string, unknown>>;
