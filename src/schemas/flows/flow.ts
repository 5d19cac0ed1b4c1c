import {
  Type,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from 'typebox';
import { Uuid } from '../fields/field.js';
import { external, operation, reply, type ErrorStatus } from '../http/operation.js';
import { Flag } from '../http/paging.js';

/** The entities that flows are about. */
export type FlowEntity = 'account' | 'contract' | 'service' | 'payment';

/** The kind of record that a reference in a start node names. */
export type ReferenceTarget = 'account' | 'contract' | 'service' | 'currency';

/**
 * A flow that callers start by its slug (spec/flows.md R2): contract, validation, route and
 * OpenAPI derive from it. Its key in `flows` is the name of its workflow.
 */
export interface Flow<S extends TObject = TObject> {
  readonly slug: string;
  /** The name that people read. */
  readonly name: string;
  readonly description: string;
  readonly entity: FlowEntity;
  /** The fields of the start node; each has the name that commands use for it. */
  readonly start: S;
  /** The field with the business key: calls of one flow with the same key share a workflow id. */
  readonly keyField: string;
  /** Set for a flow besides those of the specification (spec/flows.md R1). */
  readonly isAddition?: boolean;
  /** Errors that this flow may have besides those of any flow. */
  readonly errors?: readonly ErrorStatus[];
  /** A start node that is valid, for the documentation and for tests over all operations. */
  readonly example: object;
}

export function flow<const F extends Flow>(declaration: F): F {
  return declaration;
}

/** `Company_Name` is titled "Company Name", `account_id` "Account". */
const titleOf = (name: string): string => {
  const words = name.replace(/_id$/, '').replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** A copy of a schema with further keywords, including TypeBox's symbol properties. */
const annotated = <S extends TSchema>(schema: S, keywords: object): S =>
  Object.assign(
    Object.defineProperties({} as S, Object.getOwnPropertyDescriptors(schema)),
    keywords,
  );

/** The fields of a start node: names are case-sensitive, an unknown one is 400. */
export function startNode<P extends TProperties>(fields: P): TObject<P> {
  const titled = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [
      name,
      annotated(schema, { title: titleOf(name) }),
    ]),
  ) as P;
  return Type.Object(titled, { additionalProperties: false, description: 'A start node.' });
}

/** A field that has another name in commands. */
export const named = <S extends TSchema>(to: string, schema: S): S => annotated(schema, { to });

/**
 * A record by its id or natural key; resolved before later steps run (spec/flows.md R5). One that is held
 * stays until the step ends: it is found and locked with one statement.
 */
export const Reference = (
  target: ReferenceTarget,
  description: string,
  { isHeld = false }: { readonly isHeld?: boolean } = {},
): TUnsafe<string> =>
  Type.Unsafe<string>({
    description,
    type: 'string',
    minLength: 1,
    maxLength: 255,
    reference: target,
    ...(isHeld ? { isHeld } : {}),
  });

/** The answer of a flow that was run (spec/flows.md R2). */
export const ExecutionResult = Type.Object(
  {
    output: Type.Unsafe<Record<string, unknown>>({
      description: 'The record that the flow made or changed.',
      type: 'object',
      freeObject: true,
    }),
    flowExecutionId: Uuid('Id of the execution.'),
  },
  { description: 'The result of a flow.' },
);

const draftQuery = Type.Object({
  draftMode: Flag('Whether to keep the input as a draft and run no further steps.'),
});

export const isCreate = ({ slug }: Flow): boolean => slug.endsWith('/create');

const bodies = new WeakMap<Flow, TObject>();

/**
 * The input of a flow: its start node, and for a create flow the draft to complete
 * (spec/flows.md R19, R20). The same object each time: what checks a schema is compiled once for each, in
 * 20 ms, and kept for good.
 */
export function flowBody(declared: Flow): TObject {
  const known = bodies.get(declared);
  if (known) return known;
  const body = isCreate(declared) ? withDraft(declared) : declared.start;
  bodies.set(declared, body);
  return body;
}

const withDraft = (declared: Flow): TObject =>
  Type.Object(
    {
      ...declared.start.properties,
      id: Type.Optional(Uuid('A draft of this flow to complete.')),
    },
    { additionalProperties: false, description: `Start node of ${declared.name}.` },
  );

/** The operation that runs a flow: `POST /run/{slug}`. */
export function flowOperation(workflow: string, declared: Flow) {
  return operation({
    id: `run${workflow.charAt(0).toUpperCase()}${workflow.slice(1)}`,
    method: 'POST',
    path: external(`/run/${declared.slug}`),
    isAddition: declared.isAddition ?? false,
    tag: 'Flows',
    family: 'flows',
    summary: declared.name,
    description: declared.description,
    idempotency: 'flow',
    access: declared.entity === 'service' ? 'admin' : 'operator',
    query: draftQuery,
    body: flowBody(declared),
    example: declared.example,
    success: reply.dto(ExecutionResult),
    errors: declared.errors ?? [400, 404, 409, 504],
  });
}

export type StartOf<F extends Flow> = Static<F['start']>;
