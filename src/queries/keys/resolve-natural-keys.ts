import type { TSchema } from 'typebox';
import { isUuid } from '../../kernel/id.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { findByNaturalKeys } from './find-by-natural-key.js';
import type { Operation } from '../../schemas/http/operation.js';
import { isKeyed, recordOfParam, type KeyedRecord } from '../../schemas/http/record-id.js';

/** A path at which a declared schema has a reference; `*` is each item of a list. */
interface Place {
  readonly path: readonly string[];
  readonly record: KeyedRecord;
}

type Declaration = Readonly<Record<string, unknown>>;

const known = new WeakMap<object, readonly Place[]>();

/** The places of a declaration, found once. */
function placesOf(schema: TSchema): readonly Place[] {
  const places = known.get(schema) ?? uniquePlaces(findPlaces(schema as Declaration, []));
  known.set(schema, places);
  return places;
}

function uniquePlaces(places: readonly Place[]): readonly Place[] {
  return [...new Map(places.map((place) => [place.path.join('.'), place])).values()];
}

function findPlaces(schema: Declaration, path: readonly string[]): Place[] {
  const { recordId, properties = {}, items, oneOf = [] } = schema;
  if (typeof recordId === 'string' && isKeyed(recordId)) return [{ path, record: recordId }];
  return [
    ...Object.entries(properties as Readonly<Record<string, Declaration>>).flatMap(([name, one]) =>
      findPlaces(one, [...path, name]),
    ),
    ...(typeof items === 'object' && items !== null
      ? findPlaces(items as Declaration, [...path, '*'])
      : []),
    ...(oneOf as readonly Declaration[]).flatMap((one) => findPlaces(one, path)),
  ];
}

/** A reference to a record by something other than its id. */
interface Named {
  readonly owner: Record<string, unknown>;
  /** The property of the owner, or the index in a list. */
  readonly name: string | number;
  readonly field: string;
  readonly record: KeyedRecord;
  readonly text: string;
}

function namedOf(of: object, name: string | number, field: string, record: KeyedRecord): Named[] {
  const owner = of as Record<string, unknown>;
  const text = owner[name];
  return typeof text === 'string' && !isUuid(text) ? [{ owner, name, field, record, text }] : [];
}

function findNamed(value: unknown, { path, record }: Place, field: string): Named[] {
  const [name = '', ...rest] = path;
  if (typeof value !== 'object' || value === null) return [];
  if (name === '*') {
    if (!Array.isArray(value)) return [];
    return value.flatMap((one, index) => {
      const at = `${field}[${index}]`;
      return rest.length === 0
        ? namedOf(value, index, at, record)
        : findNamed(one, { path: rest, record }, at);
    });
  }
  const owner = value as Record<string, unknown>;
  const at = field === '' ? name : `${field}.${name}`;
  if (!Object.hasOwn(owner, name)) return [];
  return rest.length > 0
    ? findNamed(owner[name], { path: rest, record }, at)
    : namedOf(owner, name, at, record);
}

/** Replaces natural keys by ids, with one query for each kind of record; `refuse` may throw. */
async function resolve(
  scope: Scope,
  named: readonly Named[],
  refuse: (one: Named) => void,
): Promise<void> {
  for (const record of new Set(named.map((one) => one.record))) {
    const ofRecord = named.filter((one) => one.record === record);
    const texts = [...new Set(ofRecord.map(({ text }) => text))];
    const ids = await findByNaturalKeys(scope, record, texts);
    for (const one of ofRecord) {
      const id = ids.get(one.text);
      if (id === undefined) refuse(one);
      else one.owner[one.name] = id;
    }
  }
}

/** Replaces the natural keys of a value by ids. 400: one does not resolve. */
export async function resolveNaturalKeys(
  scope: Scope,
  schema: TSchema | undefined,
  value: unknown,
): Promise<void> {
  const named = namedIn(schema, value);
  if (named.length > 0) await resolveNamed(scope, named);
}

/**
 * The same for many values that stand alone: those with a key that does not resolve are returned
 * with their problem.
 */
export async function resolveEach(
  scope: Scope,
  schema: TSchema,
  values: readonly object[],
): Promise<ReadonlyMap<object, Problem>> {
  const problems = new Map<object, Problem>();
  const owners = new Map<Named, object>();
  for (const value of values) {
    for (const one of namedIn(schema, value)) owners.set(one, value);
  }
  await resolve(scope, [...owners.keys()], (one) => {
    problems.set(owners.get(one) ?? {}, namesNothing(one));
  });
  return problems;
}

const nobody: readonly Named[] = [];

function namedIn(schema: TSchema | undefined, value: unknown): readonly Named[] {
  if (schema === undefined || value === undefined) return nobody;
  const places = placesOf(schema);
  return places.length === 0 ? nobody : places.flatMap((place) => findNamed(value, place, ''));
}

const namesNothing = ({ field, record, text }: Named): Problem =>
  problem.validation(`'${field}' names no ${record}: '${text}'`, { field, value: text });

async function resolveNamed(scope: Scope, named: readonly Named[]): Promise<void> {
  await resolve(scope, named, (one) => {
    throw namesNothing(one);
  });
}

interface Input {
  readonly params: Record<string, unknown>;
  readonly query: unknown;
  readonly body: unknown;
}

/**
 * Replaces the natural keys of a request by ids. 404: one in the path does not resolve; 400: one
 * elsewhere. Returns a promise only if there are any.
 */
export function resolveInput(
  scope: Scope,
  { query, body, textParams = [] }: Operation,
  input: Input,
): Promise<void> | undefined {
  const { params } = input;
  const inPath = Object.keys(params).flatMap((name) => {
    const record = textParams.includes(name) ? undefined : recordOfParam(name);
    return record ? findNamed(params, { path: [name], record }, '') : [];
  });
  const elsewhere = [namedIn(query, input.query), namedIn(body, input.body)];
  if (inPath.length === 0 && elsewhere.every(({ length }) => length === 0)) return undefined;
  return resolveAll(scope, inPath, elsewhere);
}

async function resolveAll(
  scope: Scope,
  inPath: readonly Named[],
  elsewhere: readonly (readonly Named[])[],
): Promise<void> {
  await resolve(scope, inPath, ({ record, text }) => {
    throw problem.notFound(`There is no ${record} '${text}'.`);
  });
  for (const named of elsewhere) await resolveNamed(scope, named);
}
