import type { Operation } from '../../src/schemas/http/operation.js';
import { declaredOperations } from '../support/http/answers.js';
import { placesIn, type Schema } from '../support/http/places.js';
import type { World } from '../support/http/world.js';

/** How often a place takes a record that exists; otherwise it takes what the schema allows. */
const probability = 0.7;

const paramsOf = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** Operations that remove a record or the parts of one: they get records that nothing else needs. */
function isDestructive({ method, path }: Operation): boolean {
  return (
    method === 'DELETE' ||
    (method === 'PUT' && /\/(accounts|contracts|services)\/\{\w+\}$/.test(path))
  );
}

/** The places of a body that name a record, as schemathesis writes them: `rows[*].priceDimId`. */
function referencesIn({ body, example }: Operation, { references }: World): [string, string][] {
  if (!body || !example) return [];
  return placesIn(body as Schema, example).flatMap(({ path, name }): [string, string][] => {
    const value = references[name];
    // Dictionaries cannot be bound inside a body that is an array itself. And schemathesis reads the
    // pattern \S with a length as "only \S": it would send a text with a blank as one that is wrong.
    if (value === undefined || path[0] === '0' || value.includes(' ')) return [];
    return [[`body.${path.join('.').replaceAll('.0', '[*]')}`, value]];
  });
}

/** What may stand at each place of an operation's requests that names a record. */
function valuesOf(operation: Operation, world: World): [place: string, value: string][] {
  const isOfLine = operation.path.includes('{contractServiceId}');
  const inPath = paramsOf(operation).flatMap((name): [string, string][] => {
    const value = (isOfLine ? world.params[`line.${name}`] : undefined) ?? world.params[name];
    return value === undefined ? [] : [[`path.${name}`, value]];
  });
  const inQuery = Object.keys(operation.query?.properties ?? {}).flatMap(
    (name): [string, string][] => {
      const value = world.references[name];
      return value === undefined ? [] : [[`query.${name}`, value]];
    },
  );
  return [...inPath, ...inQuery, ...referencesIn(operation, world)];
}

/** Query parameters that are right or wrong each by itself. */
const independent = new Set(['limit', 'offset', 'page', 'size', 'q', 'view', 'isExternal']);

/**
 * Whether all that the schema allows is accepted. A body may be right by its schema and yet name a
 * record that is not there, or contradict itself, and so may the filters of a list: 400.
 */
const isWhollyDescribed = ({ body, query }: Operation): boolean =>
  !body && Object.keys(query?.properties ?? {}).every((name) => independent.has(name));

/** Whether more is accepted than the document shows, as a gateway does: see `documented` in schemas. */
const isLooserThanShown = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  ('documented' in schema || Object.values(schema).some(isLooserThanShown));

/** A basic string of TOML is one of JSON. */
const quote = (text: string): string => JSON.stringify(text);

/** What is checked of every answer, beyond what schemathesis checks by itself. */
const checks = `
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "413"]

# It would guess from the words of our errors what a schema leaves out, and call right values wrong.
[phases.fuzzing.error-feedback]
enabled = false
`;

function operationSetup(operation: Operation, world: World, dictionaries: Map<string, string>) {
  const bindings = valuesOf(operation, world).map(([place, value]) => {
    const name = dictionaries.get(value) ?? `d${dictionaries.size}`;
    dictionaries.set(value, name);
    return `${quote(place)} = { dictionary = ${quote(name)}, probability = ${probability} }`;
  });
  return [
    '[[operations]]',
    `include-operation-id = ${quote(operation.id)}`,
    `checks.positive_data_acceptance.enabled = ${isWhollyDescribed(operation)}`,
    ...(isLooserThanShown(operation.body)
      ? ['checks.negative_data_rejection.enabled = false']
      : []),
    ...(bindings.length === 0 ? [] : ['[operations.parameters]', ...bindings]),
  ].join('\n');
}

/**
 * The configuration file of schemathesis: the token, and the ids of records that exist, so that it
 * does not only meet 404. `kept` is for all operations but those that destroy, which get `spare`.
 */
export function describeRun(token: string, kept: World, spare: World): string {
  const dictionaries = new Map<string, string>();
  const operations = declaredOperations.map((operation) =>
    operationSetup(operation, isDestructive(operation) ? spare : kept, dictionaries),
  );
  const values = [...dictionaries].map(
    ([value, name]) => `[dictionaries.${name}]\nvalues = [${quote(value)}]`,
  );
  const headers = `headers = { Authorization = ${quote(`Bearer ${token}`)} }`;
  return [headers, checks, ...values, ...operations].join('\n\n');
}
