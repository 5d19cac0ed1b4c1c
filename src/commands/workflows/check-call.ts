import { isObject, pointerPart } from '../../kernel/expression/shape.js';
import {
  definitionLimits,
  durationMs,
  expressionIn,
  type CallSpec,
  type DurationSpec,
} from '../../messages/definitions/definition.js';
import { headerNameFault, httpMethods } from '../../messages/definitions/http-call.js';
import { workflowNames } from '../../schemas/flows/flow-id.js';
import { operations } from '../../schemas/index.js';
import type { Operation } from '../../schemas/http/operation.js';
import type { DefinitionCheck } from './check-definition.js';

/** Calls beside those of flows. */
const ownCalls = ['http', 'durabill.operation', 'durabill.price', 'durabill.approval'];

/** What workflows do not do: to decide is for people. */
const notCallable = new Set(['decideApproval']);
const notJson = new Set(['file', 'stream', 'events', 'redirect']);
const callable = new Map(
  Object.values<Readonly<Record<string, Operation>>>(operations)
    .flatMap((each) => Object.values(each))
    .filter(
      ({ id, family, success }) =>
        family !== 'gateway' && !notJson.has(success.kind) && !notCallable.has(id),
    )
    .map((operation) => [operation.id, operation]),
);

/** What a call is given must be of these names. */
function checkNames(
  check: DefinitionCheck,
  given: unknown,
  pointer: string,
  { known, required }: { readonly known: readonly string[]; readonly required: readonly string[] },
): given is Readonly<Record<string, unknown>> {
  if (!isObject(given)) {
    if (required.length > 0 || given !== undefined) check.add(pointer, 'must be an object');
    return false;
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const message = `'${name}' is not a known property. Known are: ${known.join(', ')}.`;
    check.add(pointer + pointerPart(name), message);
  }
  for (const name of required) {
    if (!Object.hasOwn(given, name))
      check.add(pointer + pointerPart(name), `'${name}' is required`);
  }
  return true;
}

/** The operation is known when the definition is saved, so that its rights and its names are, too. */
function checkOperation(check: DefinitionCheck, given: unknown, pointer: string): void {
  const known = ['operationId', 'parameters', 'body'];
  if (!checkNames(check, given, pointer, { known, required: ['operationId'] })) return;
  const id = given['operationId'];
  const operation = typeof id === 'string' ? callable.get(id) : undefined;
  if (!operation) {
    if (id !== undefined) {
      check.add(
        `${pointer}/operationId`,
        `There is no operation ${JSON.stringify(id).slice(0, 100)} that can be called; see /openapi.json.`,
      );
    }
    return;
  }
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inQuery = Object.keys(operation.query?.properties ?? {});
  const names = { known: [...inPath, ...inQuery], required: inPath };
  checkNames(check, given['parameters'], `${pointer}/parameters`, names);
  if (given['body'] !== undefined && !operation.body) {
    check.add(`${pointer}/body`, `${operation.id} takes no body.`);
  }
}

/** Roles that may decide: whoever has others only reads. */
const deciding: readonly unknown[] = ['OPERATOR', 'ADMIN'];

function checkApproval(check: DefinitionCheck, given: unknown, pointer: string): void {
  const known = ['title', 'details', 'roles', 'quorum', 'timeout', 'onTimeout', 'notStarter'];
  const required = ['title', 'timeout', 'onTimeout'];
  if (!checkNames(check, given, pointer, { known, required })) return;
  const { roles, quorum, timeout, onTimeout, notStarter } = given;
  if (roles !== undefined && !(Array.isArray(roles) && roles.length > 0)) {
    check.add(`${pointer}/roles`, 'must be a list of names of roles');
  }
  for (const [index, role] of (Array.isArray(roles) ? roles : []).entries()) {
    if (deciding.includes(role)) continue;
    const message = `${JSON.stringify(role).slice(0, 100)} is no role that decides: ${deciding.join(', ')}`;
    check.add(`${pointer}/roles/${index}`, message);
  }
  if (
    quorum !== undefined &&
    !(Number.isInteger(quorum) && Number(quorum) >= 1 && Number(quorum) <= 20)
  ) {
    check.add(`${pointer}/quorum`, 'must be a whole number from 1 to 20');
  }
  const isDuration = typeof timeout === 'string' || isObject(timeout);
  const ms = isDuration ? durationMs(timeout as DurationSpec) : undefined;
  if (timeout !== undefined && !ms) {
    check.add(`${pointer}/timeout`, 'is no duration, such as P3D or {"days": 3}');
  } else if (ms !== undefined && ms > definitionLimits.ms) {
    check.add(`${pointer}/timeout`, 'is longer than 31 days');
  }
  if (
    onTimeout !== undefined &&
    !(['reject', 'approve', 'fail'] as unknown[]).includes(onTimeout)
  ) {
    check.add(`${pointer}/onTimeout`, 'must be one of: reject, approve, fail');
  }
  if (notStarter !== undefined && typeof notStarter !== 'boolean') {
    check.add(`${pointer}/notStarter`, 'must be true or false');
  }
}

function checkHttp(check: DefinitionCheck, given: unknown, pointer: string): void {
  const known = ['method', 'endpoint', 'headers', 'query', 'body', 'output'];
  if (!checkNames(check, given, pointer, { known, required: ['method', 'endpoint'] })) return;
  const { method, endpoint, headers, body, output } = given;
  if (method !== undefined && !(httpMethods as readonly unknown[]).includes(method)) {
    check.add(`${pointer}/method`, `must be one of: ${httpMethods.join(', ')}`);
  }
  for (const name of isObject(headers) ? Object.keys(headers) : []) {
    const fault = headerNameFault(name);
    if (fault !== undefined) check.add(`${pointer}/headers${pointerPart(name)}`, fault);
  }
  if (method === 'GET' && body !== undefined) {
    check.add(`${pointer}/body`, 'is not for GET: use query');
  }
  if (typeof endpoint === 'string' && expressionIn(endpoint) === undefined) {
    if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
      check.add(`${pointer}/endpoint`, 'must be an address: https://...');
    }
  } else if (endpoint !== undefined && typeof endpoint !== 'string') {
    check.add(`${pointer}/endpoint`, 'must be an address: https://...');
  }
  if (output !== undefined && output !== 'content' && output !== 'response') {
    check.add(`${pointer}/output`, 'must be one of: content, response');
  }
}

/** Checks a call: what is called is known, and is given what it takes. */
export function checkCall(
  check: DefinitionCheck,
  { call, with: given }: CallSpec,
  pointer: string,
  known: readonly string[],
): void {
  const place = `${pointer}/with`;
  if (call === 'http') checkHttp(check, given, place);
  else if (call === 'durabill.operation') checkOperation(check, given, place);
  else if (call === 'durabill.approval') checkApproval(check, given, place);
  else if (call !== 'durabill.price') {
    const flow = call.startsWith('durabill.') ? call.slice('durabill.'.length) : '';
    if (!workflowNames.includes(flow)) {
      const all = [...ownCalls, ...workflowNames.map((name) => `durabill.${name}`)];
      const message = `There is no '${call.slice(0, 100)}' to call. Known are: ${all.join(', ')}.`;
      check.add(`${pointer}/call`, message);
    }
  }
  // A secret goes to a server by name and nowhere else.
  check.value(given, place, call === 'http' ? [...known, 'secrets'] : known);
}
