import { answerOnce } from '../commands/flows/idempotent-request.js';
import { jsonWithDoubles, parseJson } from '../kernel/text/json.js';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { CallOperation, OperationCall } from '../messages/definitions/task.js';
import type { Platform } from '../process/platform.js';
import { resolveInput } from '../queries/keys/resolve-natural-keys.js';
import { reviveInput } from '../schemas/fields/validator.js';
import { isReadOnly, type Operation } from '../schemas/http/operation.js';
import { idempotencyOf } from '../schemas/http/idempotency-key.js';
import { operations } from '../schemas/index.js';
import { isCallable } from '../schemas/workflows/call.js';
import { checkAccess, checkAdminFields } from './guards/check-access.js';
import { limitCall } from './guards/rate-limit.js';
import { handlers } from './handlers/index.js';
import type { AnyHandler } from './mount-operations.js';
import { checkPathValues, readParams, readQuery } from './request/read-parameters.js';
import { scopeOf } from './request/request-scope.js';
import { answerText } from './server/send-answer.js';

interface Callable {
  readonly operation: Operation;
  readonly handler: AnyHandler;
}

const callable = new Map<string, Callable>(
  Object.entries<Readonly<Record<string, Operation>>>(operations).flatMap(([resource, all]) =>
    Object.entries(all).map(([key, operation]): [string, Callable] => {
      const ofResource = handlers[resource as keyof typeof handlers] as unknown as Readonly<
        Record<string, AnyHandler>
      >;
      const handler = ofResource[key];
      if (!handler) throw new Error(`There is no handler of ${operation.id}.`);
      return [operation.id, { operation, handler }];
    }),
  ),
);

const nobody = { address: '', host: '', cookie: () => undefined };

function inputOf(operation: Operation, { parameters, body, key }: OperationCall) {
  const texts = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : String(value),
    ]),
  );
  const inPath = new Set([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  const part = (isInPath: boolean) =>
    Object.fromEntries(Object.entries(texts).filter(([name]) => inPath.has(name) === isInPath));
  const params = readParams(operation, part(true) as Record<string, string>);
  checkPathValues(operation, params);
  return {
    params,
    query: readQuery(operation, part(false)),
    body: operation.body ? reviveInput(operation.body, structuredClone(body ?? {})) : undefined,
    idempotencyKey: idempotencyOf(operation) === undefined ? null : key,
  };
}

/** Numbers that no double holds are texts: an expression loses no digit. */
const jsonOf = (text: string | null): unknown => jsonWithDoubles(parseJson(text ?? 'null'));

/**
 * Calls operations for the workflows of tenants, in this process and with all that HTTP checks: rights,
 * forms, limits. What writes happens once under its key, whatever its method.
 */
export const openOperationCaller =
  (platform: Platform): CallOperation =>
  async (call) => {
    const found = callable.get(call.operationId);
    // An older version of a workflow may name what new versions may not.
    if (!found || !isCallable(found.operation))
      throw problem.notFound(`There is no operation '${call.operationId}'.`);
    const { operation, handler } = found;
    const { identity, requestId } = call;
    await limitCall(operation, platform, identity.tenantId, call.body, 'workflows');
    checkAccess(operation, identity);
    const input = inputOf(operation, call);
    checkAdminFields(operation, identity, input.body);
    const { credential, depth, starter } = call;
    const ofRequest = await scopeOf(identity, { requestId }, platform);
    const scope = { ...ofRequest, credential, depth, starter };
    const work = async (inner: Scope): Promise<string | null> => {
      await resolveInput(inner, operation, input);
      const result = await handler(input, inner, platform, nobody);
      return answerText(operation, result, { requestId, ...input });
    };
    const isFlow = idempotencyOf(operation) === 'flow';
    if (isFlow || isReadOnly(operation)) return jsonOf(await work(scope));
    const request = { key: call.key, operation: `workflow/${operation.id}`, input };
    const { status } = operation.success;
    const { text } = await answerOnce(scope, request, async (inner) => ({
      status,
      text: await work(inner),
    }));
    return jsonOf(text);
  };
