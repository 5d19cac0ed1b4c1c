import type { TSchema } from 'typebox';
import { isObject, pointerPart } from '../../kernel/expression/json-schema-check.js';
import { nearestName } from '../../kernel/text/nearest-name.js';
import {
  definitionLimits,
  durationMs,
  expressionIn,
  type CallSpec,
  type DurationSpec,
} from '../../messages/definitions/definition.js';
import {
  addressFault,
  headerNameFault,
  isHeaderText,
  noAddress,
} from '../../messages/definitions/http-call.js';
import { faultsBeside } from '../../schemas/fields/validator.js';
import { flowBody } from '../../schemas/flows/flow.js';
import { jobs } from '../../schemas/flows/flow-id.js';
import { flowList, publicNameOf } from '../../schemas/flows/index.js';
import { operations } from '../../schemas/index.js';
import type { Operation } from '../../schemas/http/operation.js';
import { callNames, isCallable, mustBeGiven } from '../../schemas/workflows/call.js';
import { callFaults } from '../../schemas/workflows/definition-check.js';
import type { DefinitionCheck } from './check-definition.js';

/** What flows and other workflows that are built in take. */
const inputs: ReadonlyMap<string, TSchema> = new Map<string, TSchema>([
  ...flowList.map(([workflow, flow]): [string, TSchema] => [
    `durabill.${publicNameOf(workflow)}`,
    flowBody(flow),
  ]),
  ...jobs.map(({ name, data }): [string, TSchema] => [`durabill.${name}`, data]),
]);

type Given = Readonly<Record<string, unknown>>;

const callable = new Map(
  Object.values<Readonly<Record<string, Operation>>>(operations)
    .flatMap((each) => Object.values(each))
    .filter(isCallable)
    .map((operation) => [operation.id, operation]),
);

/** What was probably meant. It is looked for a few times: a definition may have hundreds of wrong names. */
const nearestOf = (check: DefinitionCheck, name: string, known: readonly string[]) =>
  check.known < 10 ? nearestName(name, known) : undefined;

const writtenSecret =
  'Whoever reads the definition would see it: give what an answer or the input has.';

/** Whether an expression says part of a value, or all of it. */
function isOpen(value: unknown): boolean {
  if (typeof value === 'string') return expressionIn(value) !== undefined;
  return typeof value === 'object' && value !== null && Object.values(value).some(isOpen);
}

/** What is written out is checked as it will be when it is called. */
function checkBody(check: DefinitionCheck, schema: TSchema, body: unknown, pointer: string): void {
  if (typeof body === 'string') return;
  for (const fault of faultsBeside(schema, body, isOpen)) {
    check.add(pointer + fault.pointer, fault.message);
  }
}

/** The operation is known when the definition is saved, so that its rights and its names are, too. */
function checkOperation(
  check: DefinitionCheck,
  given: Given,
  pointer: string,
  variables: readonly string[],
): void {
  const { operationId: id, parameters: named, body } = given;
  if (typeof id !== 'string') return;
  const operation = callable.get(id);
  if (!operation) {
    const nearest = nearestOf(check, id, [...callable.keys()]);
    const hint = nearest === undefined ? 'See /openapi.json.' : `Did you mean ${nearest}?`;
    const message = `There is no operation '${id.slice(0, 100)}' that can be called. ${hint}`;
    check.add(`${pointer}/operationId`, message);
    return;
  }
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const known = [...inPath, ...Object.keys(operation.query?.properties ?? {})];
  const parameters = isObject(named) ? named : {};
  const unknown = Object.keys(parameters).filter((each) => !known.includes(each));
  for (const name of unknown.slice(0, 100)) {
    const message = `'${name}' is not a known property. Known are: ${known.join(', ')}.`;
    check.add(`${pointer}/parameters${pointerPart(name)}`, message);
  }
  for (const name of inPath.filter((each) => !Object.hasOwn(parameters, each))) {
    check.add(`${pointer}/parameters${pointerPart(name)}`, `'${name}' is required`);
  }
  if (id === 'putSecret') {
    const [value, place] = isObject(body) ? [body['value'], '/body/value'] : [body, '/body'];
    if (typeof value === 'string') check.read(value, pointer + place, variables, writtenSecret);
  }
  if (operation.body) checkBody(check, operation.body, body ?? {}, `${pointer}/body`);
  else if (body !== undefined) check.add(`${pointer}/body`, `${operation.id} takes no body.`);
}

function checkApproval(check: DefinitionCheck, { timeout }: Given, pointer: string): void {
  if (timeout === undefined) return;
  const ms = durationMs(timeout as DurationSpec) ?? 0;
  if (ms === 0) check.add(`${pointer}/timeout`, 'is no time that somebody could decide in');
  else if (ms > definitionLimits.ms) check.add(`${pointer}/timeout`, 'is longer than 31 days');
}

function checkHttp(check: DefinitionCheck, given: Given, pointer: string): void {
  const { method, endpoint, headers, body } = given;
  for (const [name, value] of isObject(headers) ? Object.entries(headers) : []) {
    const isWritten = typeof value === 'string' && expressionIn(value) === undefined;
    const isText = !isWritten || isHeaderText(value);
    const fault =
      headerNameFault(name) ?? (isText ? undefined : 'must be a text without line breaks');
    if (fault !== undefined) check.add(`${pointer}/headers${pointerPart(name)}`, fault);
  }
  if (method === 'GET' && body !== undefined) {
    check.add(`${pointer}/body`, 'is not for GET: use query');
  }
  if (typeof endpoint === 'string' && expressionIn(endpoint) === undefined) {
    const fault = /^https?:\/\//.test(endpoint) ? addressFault(endpoint) : noAddress;
    if (fault !== undefined) check.add(`${pointer}/endpoint`, fault);
  }
}

const checks: Readonly<
  Record<
    string,
    (check: DefinitionCheck, given: Given, pointer: string, variables: readonly string[]) => void
  >
> = { http: checkHttp, 'durabill.operation': checkOperation, 'durabill.approval': checkApproval };

/** Checks a call: what is called is known, and is given what it takes. */
export function checkCall(
  check: DefinitionCheck,
  { call, with: given }: CallSpec,
  pointer: string,
  known: readonly string[],
): void {
  const place = `${pointer}/with`;
  const isKnown = callNames.includes(call);
  if (!isKnown) {
    const nearest = nearestOf(check, call, callNames);
    const hint =
      nearest === undefined ? `Known are: ${callNames.join(', ')}.` : `Did you mean ${nearest}?`;
    check.add(`${pointer}/call`, `There is no '${call.slice(0, 100)}' to call. ${hint}`);
  }
  // The form of a call is compiled and kept: names that somebody invents would fill the memory.
  const isToBeChecked = isKnown && (given !== undefined || mustBeGiven(call));
  const faults = isToBeChecked ? callFaults(call, given, place) : [];
  check.addAll(faults);
  const isFine = (name: string) => !faults.some((fault) => fault.pointer.startsWith(place + name));
  // What is wrong in its form is left out, so that the rest is checked, too.
  const rest = Object.entries(isObject(given) ? given : {}).filter(([name]) =>
    isFine(pointerPart(name)),
  );
  checks[call]?.(check, Object.fromEntries(rest), place, known);
  const input = inputs.get(call);
  if (input && isObject(given ?? {})) checkBody(check, input, given ?? {}, place);
  // A secret goes to a server by name and nowhere else.
  check.value(given, place, call === 'http' ? [...known, 'secrets'] : known);
}
