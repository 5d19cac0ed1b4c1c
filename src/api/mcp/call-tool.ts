import { completeToolCall, recordToolCall } from '../../commands/access/tool-call.js';
import { answerOnce } from '../../commands/flows/idempotent-request.js';
import { databaseProblem } from '../../commands/rules/database-problem.js';
import { Problem, problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { Identity } from '../../access/authenticate.js';
import type { Platform } from '../../process/platform.js';
import type { JsonReply, Operation } from '../../schemas/http/operation.js';
import { idempotencyOf, takesIdempotencyKey } from '../../schemas/http/idempotency-key.js';
import type { Tool } from '../../schemas/mcp/tool-sets.js';
import { answerTokens, pathNames, queryNames, toolDefaults } from '../../schemas/mcp/tool-input.js';
import { validate } from '../../schemas/fields/validator.js';
import { handlers } from '../handlers/index.js';
import { stringifyJson } from '../server/unstorable-text.js';
import { checkAccess, checkAdminFields } from '../guards/check-access.js';
import { checkIdempotencyKey, type AnyHandler } from '../mount-operations.js';
import { readParams, readQuery } from '../request/read-parameters.js';
import { scopeOf, type RequestIds } from '../request/request-scope.js';
import { limitCall } from '../guards/rate-limit.js';
import { recordsError } from '../presenters/problem.js';
import { problemCode } from '../../schemas/http/problem.js';
import { resolveInput } from '../../queries/keys/resolve-natural-keys.js';
import { fittingQuery, writeToolAnswer } from './tool-answer.js';

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The caller of a tool, and the request of the call. */
export interface ToolCaller {
  readonly identity: Identity;
  readonly requestId: string;
  readonly ids: RequestIds;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Why no definition is taken from this request. */
  readonly refused: Problem | undefined;
}

/** The result of a call in MCP (2025-11-25, "Tool Result"). */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly isError?: true;
}

function refuseUnknown(operation: Operation, given: ToolArguments): void {
  const known = new Set([
    ...pathNames(operation),
    ...queryNames(operation),
    ...(operation.body ? ['body'] : []),
    'maxTokens',
    ...(takesIdempotencyKey(operation) ? ['idempotencyKey'] : []),
  ]);
  const field = Object.keys(given).find((name) => !known.has(name));
  if (field !== undefined) {
    const names = [...known].join(', ');
    throw problem.validation(
      `'${field.slice(0, 200)}' is not a known property. Known are: ${names}.`,
      { field },
    );
  }
}

/** A parameter as an address would have it: numbers and truth values are texts there. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw problem.validation(`'${name}' must be a text, a number, true or false`, { field: name });
}

/** The parameters of these names; null counts as absent, since models send it for omitted ones. */
function texts(names: readonly string[], given: ToolArguments): Record<string, string | string[]> {
  const values = names.flatMap((name): [string, string | string[]][] => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) return [];
    return [
      [name, Array.isArray(value) ? value.map((one) => textOf(name, one)) : textOf(name, value)],
    ];
  });
  return Object.fromEntries(values);
}

/** The arguments checked by the declarations that check a request over HTTP. */
function readArguments(operation: Operation, given: ToolArguments) {
  refuseUnknown(operation, given);
  const names = pathNames(operation);
  const inPath = texts(names, given);
  const missing = names.find((name) => typeof inPath[name] !== 'string' || inPath[name] === '');
  if (missing !== undefined) {
    throw problem.validation(`'${missing}' is required`, { field: missing });
  }
  const key = given['idempotencyKey'] ?? undefined;
  return {
    params: readParams(operation, inPath as Record<string, string>),
    query: readQuery(operation, texts(queryNames(operation), given)),
    body: operation.body ? validate(operation.body, given['body']) : undefined,
    idempotencyKey: checkIdempotencyKey(
      operation,
      key === undefined ? undefined : textOf('idempotencyKey', key),
    ),
  };
}

/** How long the answer may be: 4,000 tokens, unless the call asks for more or less. */
function tokensMaxOf({ maxTokens }: ToolArguments): number {
  if (maxTokens === undefined || maxTokens === null) return answerTokens.default;
  const { minimum, maximum } = answerTokens;
  if (typeof maxTokens === 'number' && Number.isInteger(maxTokens) && maxTokens >= minimum) {
    return Math.min(maxTokens, maximum);
  }
  throw problem.validation(`'maxTokens' must be a whole number >= ${minimum}`, {
    field: 'maxTokens',
    value: maxTokens,
  });
}

/** Stands for the HTTP caller: only operations of OAuth read it, and they are no tools. */
const nobody = { address: '', host: '', cookie: () => undefined };

async function perform(
  { resource, key, operation }: Tool,
  asked: ToolArguments,
  { identity, refused }: ToolCaller,
  scope: Scope,
  platform: Platform,
): Promise<string> {
  const given = { ...toolDefaults[operation.id], ...asked };
  await limitCall(operation, platform, identity.tenantId, given['body'], 'clients');
  checkAccess(operation, identity);
  if (operation.writtenPart !== undefined && refused) throw refused;
  const tokensMax = tokensMaxOf(given);
  const reply = operation.success as JsonReply;
  const checked = readArguments(operation, given);
  const input = { ...checked, query: fittingQuery(reply, checked.query, tokensMax) };
  checkAdminFields(operation, identity, input.body);
  const ofResource = handlers[resource] as unknown as Readonly<Record<string, AnyHandler>>;
  const work = async (inner: Scope): Promise<string> => {
    await resolveInput(inner, operation, input);
    const result = await ofResource[key]?.(input, inner, platform, nobody);
    const queries = { asked: checked.query, read: input.query };
    return writeToolAnswer(reply, result, queries, tokensMax);
  };
  const { idempotencyKey } = input;
  if (idempotencyKey === null || idempotencyOf(operation) !== 'transaction') return work(scope);
  // The operation's name has a prefix, since a tool's answer differs from that over HTTP: the same
  // key is another request there.
  const request = { key: idempotencyKey, operation: `mcp/${operation.id}`, input };
  const { text } = await answerOnce(scope, request, async (inner) => ({
    status: operation.success.status,
    text: await work(inner),
  }));
  return text ?? '';
}

function failureOf(error: unknown, platform: Platform, tool: Tool): Problem {
  const known = error instanceof Problem ? error : databaseProblem(error);
  if (known) return known;
  platform.log.error({ err: error, tool: tool.operation.id }, 'tool call failed');
  return new Problem('internal', 'Something went wrong on our side.');
}

const resultOf = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });

/**
 * Calls the handler of an operation for an MCP client, with the scope of its token, so that it
 * reaches its own tenant only. Errors are returned in the result, as an error body of family C, so
 * that a model can correct its call. Each call is recorded before and after.
 */
export async function callTool(
  tool: Tool,
  given: ToolArguments,
  caller: ToolCaller,
  platform: Platform,
): Promise<ToolResult> {
  const { identity, ids, gone } = caller;
  const scope = await scopeOf(identity, ids, platform);
  const id = await recordToolCall(scope, {
    tool: tool.operation.id,
    arguments: given,
    clientId: identity.grant?.clientId ?? null,
  });
  // A separate scope, so that the outcome can be recorded after the work was abandoned.
  const work = await scopeOf(identity, ids, platform);
  const giveUp = (): void => work.db.abandon?.();
  gone.addEventListener('abort', giveUp);
  if (gone.aborted) giveUp();
  const { result, code } = await perform(tool, given, caller, work, platform).then(
    (text) => ({ result: resultOf(text), code: null }),
    (error: unknown) => {
      const failure = failureOf(error, platform, tool);
      const body = resultOf(stringifyJson({ error: recordsError(failure) }));
      return { result: { ...body, isError: true as const }, code: problemCode(failure.kind) };
    },
  );
  gone.removeEventListener('abort', giveUp);
  // The work is committed and answered, even if its outcome cannot be recorded: it stays `Started`.
  await completeToolCall(scope, id, code).catch((error: unknown) => {
    platform.log.error({ err: error, toolCallId: id }, 'the end of a tool call was not recorded');
  });
  return result;
}
