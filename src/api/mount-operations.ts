import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import { answerOnce } from '../commands/flows/idempotent-request.js';
import { Problem, problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { ClientAddress } from '../access/client-address.js';
import type { Identity } from '../access/authenticate.js';
import type { Platform } from '../process/platform.js';
import type { Operation, OperationInput, OperationResult } from '../schemas/http/operation.js';
import {
  idempotencyKeyForm,
  idempotencyOf,
  takesIdempotencyKey,
} from '../schemas/http/idempotency-key.js';
import { accessOf } from '../schemas/http/operation-access.js';
import type { StreamedAnswer, StreamedEvents } from '../schemas/http/operation.js';
import { validate } from '../schemas/fields/validator.js';
import { readBody, type JsonBody } from './server/read-body.js';
import type { SegmentRouter } from './server/segment-router.js';
import { enterWithBody, largeBodyMin } from './server/large-bodies-at-once.js';
import { openEventStream } from './event-stream.js';
import { checkAccess, checkAdminFields } from './guards/check-access.js';
import { limitToAccount } from './guards/limit-to-account.js';
import { noteRefusedBearer } from './guards/failed-sign-ins.js';
import { JsonText } from './server/unstorable-text.js';
import { resolveInput } from '../queries/keys/resolve-natural-keys.js';
import { admit, limitEvents, limitRequest } from './guards/rate-limit.js';
import { answerText, sendAnswer, sendJson } from './server/send-answer.js';
import { sendStream } from './server/send-stream.js';
import { bytesOf, waitForTurn } from './guards/wait-for-turn.js';
import { checkPathValues, readParams, readQuery } from './request/read-parameters.js';
import { realScopeOf, scopeOf, type RequestIds } from './request/request-scope.js';
import { whenGone } from './request/when-gone.js';

/** Data of a request about its sender besides the token; only OAuth uses them. */
export interface Caller {
  readonly address: string;
  /** The host and port in the request, under which the caller knows this instance. */
  readonly host: string;
  readonly cookie: (name: string) => string | undefined;
}

/** One query, one command or one flow start; branches go below. */
export type Handler<O extends Operation> = (
  input: OperationInput<O>,
  scope: Scope,
  platform: Platform,
  caller: Caller,
) => OperationResult<O> | Promise<OperationResult<O>>;

/** The handlers of a resource: a missing one does not compile. */
export type Handlers<Os extends Readonly<Record<string, Operation>>> = {
  readonly [K in keyof Os]: Handler<Os[K]>;
};

/** A handler of an operation that is known at run time only. */
export type AnyHandler = (
  input: object,
  scope: Scope,
  platform: Platform,
  caller: Caller,
) => Promise<unknown>;

/** Wraps the handling of an operation; see `api/oauth/guards.ts`. */
export type Guard = (ctx: Context, answer: () => Promise<void>) => Promise<void>;

/** Set by the first middleware for all that follow. */
export interface RequestState {
  /** The id in the answer: the caller's, if it is a valid token. */
  requestId: string;
  /** The ids for the audit. */
  ids: RequestIds;
  /** The tenant of the token, after authentication. */
  tenantId?: string;
  /** The operation that was matched: errors are rendered in its family. */
  operation?: Operation;
  /** Further parameters of `WWW-Authenticate` after Bearer, if this route has any. */
  challenge?: string;
}

const bearerForm = /^Bearer +([^\s]+)$/i;

/**
 * Authenticates the bearer value of a request; a promise unless it was verified lately. 401: it is missing
 * or not valid.
 */
export function identify(ctx: Context, platform: Platform): Identity | Promise<Identity> {
  const bearer = bearerForm.exec(ctx.headers.authorization ?? '')?.[1];
  if (bearer === undefined) {
    throw problem.unauthorized('A bearer token is required: Authorization: Bearer <ACCESS_TOKEN>.');
  }
  const { addressLimits } = platform;
  // A value that was valid lately is checked even if its address has exceeded the limit of
  // failures.
  const isKnown = addressLimits.isKnown(bearer);
  if (!isKnown) addressLimits.check('credential', clientOf(ctx, platform));
  const checking = platform.authenticate(bearer);
  return isKnown && !(checking instanceof Promise)
    ? checking
    : noteOutcome(ctx, platform, bearer, checking);
}

/** What a check of a bearer value has found is counted for its address. */
async function noteOutcome(
  ctx: Context,
  platform: Platform,
  bearer: string,
  checking: Identity | Promise<Identity>,
): Promise<Identity> {
  const { addressLimits } = platform;
  try {
    const identity = await checking;
    if (!addressLimits.isKnown(bearer)) addressLimits.remember(bearer);
    return identity;
  } catch (error) {
    if (error instanceof Problem && error.kind === 'unauthorized') {
      const { ids } = ctx.state as RequestState;
      const client = clientOf(ctx, platform);
      addressLimits.count('credential', client);
      noteRefusedBearer(platform, { ...ids, address: client.group, path: ctx.path });
    }
    throw error;
  }
}

/** From where a request comes. */
export const clientOf = (ctx: Context, { clients }: Platform): ClientAddress =>
  clients.find(ctx.req.socket.remoteAddress, ctx.get('x-forwarded-for'));

const anonymous: Identity = { tenantId: '', orgId: null, roles: [], subject: 'anonymous' };

const wholeIdempotencyKey = new RegExp(`^${idempotencyKeyForm}$`);

/** The `Idempotency-Key` of a request, if its operation takes one. 400: it is malformed. */
export function checkIdempotencyKey(operation: Operation, key: string | undefined): string | null {
  if (key === undefined || !takesIdempotencyKey(operation)) return null;
  if (wholeIdempotencyKey.test(key)) return key;
  throw problem.validation(
    "'Idempotency-Key' must be 1 to 255 visible ASCII characters without spaces",
    { field: 'Idempotency-Key' },
  );
}

/** A body, validated by its schema. */
function checkBody(
  { body: schema, keepsBodyText }: Operation,
  { text, value }: JsonBody,
  leave: () => void,
): unknown {
  if (text.length < largeBodyMin) leave();
  const body = schema === undefined ? value : validate(schema, value);
  return keepsBodyText === true ? new JsonText(text.trim()) : body;
}

/** Computes its properties on demand, since few operations use them. */
class RequestCaller implements Caller {
  readonly #ctx: Context;
  readonly #platform: Platform;

  constructor(ctx: Context, platform: Platform) {
    this.#ctx = ctx;
    this.#platform = platform;
  }

  get address(): string {
    return clientOf(this.#ctx, this.#platform).registrant;
  }

  get host(): string {
    return this.#ctx.host;
  }

  get cookie(): Caller['cookie'] {
    return (name) => this.#ctx.cookies.get(name);
  }
}

/** A request that has been let in: who asks for what. */
interface Asking {
  readonly operation: Operation;
  readonly handler: AnyHandler;
  readonly ctx: Context;
  readonly platform: Platform;
  readonly identity: Identity;
}

/** What a request gives an operation. */
interface Given {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

const noParams: Record<string, string> = {};

/** Reads the input of an operation, calls its handler and sends the answer. */
async function carryOut(asking: Asking): Promise<void> {
  const { operation, ctx, identity } = asking;
  const { params: inPath = noParams } = ctx as unknown as { params?: Record<string, string> };
  const params = readParams(operation, inPath);
  const query = readQuery(operation, ctx.query);
  checkPathValues(operation, params);
  if (!operation.body) return perform(asking, { params, query, body: undefined });
  const entering = enterWithBody(ctx, operation, identity.tenantId);
  const leave = entering instanceof Promise ? await entering : entering;
  try {
    const reading = readBody(ctx, operation);
    const read = reading instanceof Promise ? await reading : reading;
    const body = checkBody(operation, read, leave);
    checkAdminFields(operation, identity, body);
    await perform(asking, { params, query, body });
  } finally {
    leave();
  }
}

async function perform(asking: Asking, { params, query, body }: Given): Promise<void> {
  const { operation, ctx, platform, identity } = asking;
  const { requestId, ids } = ctx.state as RequestState;
  const counting = limitEvents(operation, platform, identity.tenantId, body);
  if (counting) await counting;
  const idempotencyKey = checkIdempotencyKey(operation, ctx.headers['idempotency-key']?.toString());
  // Usage is taken in while the database is away, if its log is not in it.
  const making =
    operation.family === 'ingestion'
      ? realScopeOf(identity, ids, platform)
      : scopeOf(identity, ids, platform);
  const scope = making instanceof Promise ? await making : making;
  // When the client has disconnected, its running statements are canceled; ingestion has none.
  if (operation.family !== 'ingestion') {
    whenGone(ctx, () => scope.db.abandon?.());
  }
  const input = { params, query, body, idempotencyKey };
  if (idempotencyKey !== null && idempotencyOf(operation) === 'transaction') {
    const request = { key: idempotencyKey, operation: operation.id, input };
    const { status } = operation.success;
    const kept = await answerOnce(scope, request, async (inner) => ({
      status,
      text: await answerText(operation, await handle(asking, input, inner), {
        requestId,
        ...input,
      }),
    }));
    sendJson(ctx, kept.status, kept.text);
    return;
  }
  const result = await handle(asking, input, scope);
  if (operation.success.kind === 'stream') {
    await sendStream(ctx, result as StreamedAnswer, platform, identity.tenantId);
    return;
  }
  if (operation.success.kind === 'events') {
    await openEventStream(ctx, result as StreamedEvents, platform, identity);
    return;
  }
  const isSecure = platform.config.publicUrl.startsWith('https:');
  const asked = { requestId, isSecure, query, body };
  const sending = sendAnswer(ctx, operation, result, asked);
  if (sending) await sending;
}

/** Calls the handler, after its natural keys are resolved and an embed is limited to its account. */
function handle(
  { operation, handler, ctx, platform, identity }: Asking,
  input: Given,
  scope: Scope,
): unknown {
  const resolving = resolveInput(scope, operation, input);
  const { accountId } = identity;
  if (resolving === undefined && accountId === undefined) {
    return handler(input, scope, platform, new RequestCaller(ctx, platform));
  }
  return (resolving ?? Promise.resolve())
    .then(() =>
      accountId === undefined ? undefined : limitToAccount(scope, operation, input, accountId),
    )
    .then(() => handler(input, scope, platform, new RequestCaller(ctx, platform)));
}

async function answerRequest(
  operation: Operation,
  handler: AnyHandler,
  ctx: Context,
  platform: Platform,
): Promise<void> {
  const isPublic = accessOf(operation) === 'public';
  const identifying = isPublic ? anonymous : identify(ctx, platform);
  const identity = identifying instanceof Promise ? await identifying : identifying;
  (ctx.state as RequestState).tenantId = identity.tenantId;
  const { tenantId } = identity;
  if (!isPublic) {
    try {
      checkAccess(operation, identity);
    } catch (error) {
      // Refused at once, before queueing or reading the body; it counts as a request all the same.
      await limitRequest(operation, ctx, platform, tenantId);
      throw error;
    }
  }
  // Awaited only if it is a promise: an await costs more than most of these checks.
  const entering = waitForTurn(operation, ctx, platform, tenantId);
  const leaveShare = entering instanceof Promise ? await entering : entering;
  try {
    const counting = limitRequest(operation, ctx, platform, tenantId);
    if (counting) await counting;
    const leave = admit(operation, ctx, platform, tenantId);
    try {
      await carryOut({ operation, handler, ctx, platform, identity });
    } finally {
      leave();
    }
  } finally {
    leaveShare(bytesOf(ctx));
  }
}

interface Layer {
  readonly path: string;
  readonly methods: readonly string[];
}

/**
 * The routes of the path template that matches: of several, the most literal one, which is
 * registered first. `/usage-events/retry` is not a usage event with the id `retry`.
 */
export function routesOf(ctx: Context): readonly Layer[] {
  const { matched = [] } = ctx as unknown as { matched?: readonly Layer[] };
  const [first] = matched;
  return matched.filter(({ path }) => path === first?.path);
}

/** Registers an operation under its path. */
export function mount(
  router: SegmentRouter,
  platform: Platform,
  operation: Operation,
  handler: AnyHandler,
  guard: Guard = (_ctx, work) => work(),
): void {
  const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
  const answer = (ctx: Context): Promise<void> => {
    (ctx.state as RequestState).operation = operation;
    return guard(ctx, () => answerRequest(operation, handler, ctx, platform));
  };
  if (path === operation.path) router.answerAt(operation.method, path, answer);
  router.register(path, [operation.method.toLowerCase()], async (ctx: Context, next: Next) => {
    await (routesOf(ctx)[0]?.path === path ? answer(ctx) : next());
  });
}

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** The request's id: the caller's own where it is a sane token (spec/resources.md R10). */
export function requestIdOf(given = ''): string {
  return requestIdForm.test(given) ? given : randomUUID();
}

/** The audit's ids of a request that is answered with this id (docs/decisions/0178). */
export function auditIdsOf(requestId: string, given: string): RequestIds {
  return requestId === given ? { requestId: randomUUID(), callerRequestId: given } : { requestId };
}
