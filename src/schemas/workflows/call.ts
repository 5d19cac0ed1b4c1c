import { Type, type TSchema } from 'typebox';
import { httpMethods } from '../../messages/definitions/http-call.js';
import type { Operation } from '../http/operation.js';
import { workflowNames } from '../flows/flow-id.js';
import { closed, Duration, OrExpression, Value } from './definition-part.js';

const notJson: ReadonlySet<string> = new Set(['file', 'stream', 'events', 'redirect']);

/**
 * Whether workflows may call an operation: what it answers is in their timeline, and to decide is for
 * people (spec/beyond.md R345).
 */
export const isCallable = ({ id, family, success, showsSecret }: Operation): boolean =>
  family !== 'gateway' &&
  !notJson.has(success.kind) &&
  showsSecret !== true &&
  id !== 'decideApproval';

const Names = (description: string) => OrExpression({ type: 'object' }, description);

/** What is given to calls that are no flows. */
const forms: Readonly<Record<string, TSchema>> = {
  http: Type.Object(
    {
      method: Type.Unsafe<string>({
        type: 'string',
        enum: [...httpMethods],
        description: 'The method.',
      }),
      endpoint: Type.String({
        description: 'The address, https://..., or an expression.',
        published: { pattern: '^(https?://.|\\s*\\$\\{[\\s\\S]*\\}\\s*$)' },
      }),
      headers: Type.Optional(Names('Headers by their names.')),
      query: Type.Optional(Names('What stands behind ? in the address.')),
      body: Type.Optional(Value('What is sent; texts may be expressions.')),
      output: Type.Optional(
        Type.Unsafe<string>({
          type: 'string',
          enum: ['content', 'response'],
          description: 'What the task gives: the content, or also status and headers.',
        }),
      ),
    },
    {
      ...closed,
      published: {
        if: { properties: { method: { const: 'GET' } }, required: ['method'] },
        then: { properties: { body: false } },
      },
    },
  ),
  'durabill.operation': Type.Object(
    {
      operationId: Type.String({ description: 'Id of an operation of /openapi.json.' }),
      parameters: Type.Optional(
        Type.Unsafe<unknown>({ type: 'object', description: 'Those of its path and query.' }),
      ),
      body: Type.Optional(Value('Its body; texts may be expressions.')),
    },
    closed,
  ),
  'durabill.approval': Type.Object(
    {
      title: Type.String({ minLength: 1, description: 'What is asked; may be an expression.' }),
      details: Type.Optional(Names('What people see who decide.')),
      roles: Type.Optional(
        Type.Array(
          // Whoever has others only reads.
          Type.Unsafe<string>({
            type: 'string',
            enum: ['OPERATOR', 'ADMIN'],
            description: 'A role that decides.',
          }),
          { minItems: 1, description: 'Who may decide.' },
        ),
      ),
      quorum: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 20, description: 'How many must approve.' }),
      ),
      timeout: Duration('How long is waited, at most 31 days.'),
      onTimeout: Type.Unsafe<string>({
        type: 'string',
        enum: ['reject', 'approve', 'fail'],
        description: 'What comes when nobody has decided by then.',
      }),
      notStarter: Type.Optional(
        Type.Boolean({ description: 'Whether who started the execution may not approve.' }),
      ),
    },
    closed,
  ),
};
const inputForm = Names('The input.');

/** All that can be called. */
export const callNames: readonly string[] = [
  ...Object.keys(forms),
  'durabill.price',
  ...workflowNames.map((name) => `durabill.${name}`),
];

/** The form of what a call is given. */
export const callForm = (call: string): TSchema =>
  (Object.hasOwn(forms, call) ? forms[call] : undefined) ?? inputForm;

/** Whether a call does nothing without being given something. */
export const mustBeGiven = (call: string): boolean => Object.hasOwn(forms, call);

const conditions = [
  ...Object.entries(forms).map(([call, form]) => ({
    if: { properties: { call: { const: call } }, required: ['call'] },
    then: { properties: { with: form }, required: ['with'] },
  })),
  {
    if: { properties: { call: { enum: Object.keys(forms) } }, required: ['call'] },
    else: { properties: { with: inputForm } },
  },
];

/** A call of one of these. What it is given is checked apart, for each call by its own form. */
const callOf = (names: readonly string[]) => ({
  call: Type.String({
    description: 'durabill.<flow>, durabill.operation, durabill.price, durabill.approval or http.',
    maxLength: 255,
    published: { enum: names },
  }),
  with: Type.Optional(Value('What it is called with; texts may be expressions.')),
});

export const Call = callOf(callNames);
/** What takes a task back waits for nobody. */
export const UndoCall = callOf(callNames.filter((name) => name !== 'durabill.approval'));
export const publishedCall = { allOf: conditions };
