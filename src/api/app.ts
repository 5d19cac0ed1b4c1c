import Koa, { type Context, type Next } from 'koa';
import { problem, type Problem } from '../kernel/problem.js';
import { shownPath } from '../platform/log.js';
import type { Platform } from '../process/platform.js';
import type { Operation } from '../schemas/http/operation.js';
import { operations } from '../schemas/index.js';
import { allowOrigins } from './guards/cors.js';
import { holdRefusal } from './guards/hold-refusals.js';
import type { FillYear } from './console/demo-year.js';
import { mountConsole } from './console/mount-console.js';
import { mountDocs } from './pages/api-reference.js';
import { mountFrontPage, showMissingPage } from './pages/front-page.js';
import { answerBeforeEnd } from './server/unread-body.js';
import { mountGuide } from './guide/mount-guide.js';
import { handlers } from './handlers/index.js';
import { stringifyJson } from './server/unstorable-text.js';
import { auditIdsOf, mount, requestIdOf, routesOf, type RequestState } from './mount-operations.js';
import { mountMcp } from './mcp/mount-mcp.js';
import { oauthGuards } from './oauth/guards.js';
import { mountOauth } from './oauth/mount-oauth.js';
import { measureRequests } from './server/measure-requests.js';
import { mountHealth } from './pages/health.js';
import { mountPublicKeys } from './pages/public-keys.js';
import { familyOfPath, presentProblem, retryAfterSeconds } from './presenters/problem.js';
import { problemOf } from './server/problem-of-error.js';
import { securityHeaders } from './guards/security-headers.js';
import { SegmentRouter } from './server/segment-router.js';
import { traceRequests } from './server/trace-requests.js';

/** More specific paths first: `/accounts/by-external-id/{id}` before `/accounts/{id}`. */
function bySpecificity(a: Operation, b: Operation): number {
  // By code unit, where '~' comes after every letter; a locale would put it before them.
  const [first, second] = [a, b].map(
    ({ path, method }) => `${path.replace(/\{\w+\}/g, '~')} ${method}`,
  ) as [string, string];
  return first < second ? -1 : first > second ? 1 : 0;
}

/**
 * The problem of a request without a route: 405 with `Allow` if the path has other methods
 * (docs/decisions/0074), else 404.
 */
function unroutedProblem(ctx: Context): Problem {
  const methods = [...new Set(routesOf(ctx).flatMap((layer) => layer.methods))].sort();
  if (methods.length === 0) return problem.notFound(`There is no ${ctx.method} ${ctx.path}.`);
  const allowed = methods.join(', ');
  ctx.set('Allow', allowed);
  return problem.methodNotAllowed(`There is no ${ctx.method} ${ctx.path}, but ${allowed}.`);
}

/** Koa parses them in quadratic time. */
const queryParametersMax = 500;

/** 400: an address has too many query parameters. */
function checkQuery({ querystring }: Context): void {
  let count = 1;
  for (let at = querystring.indexOf('&'); at >= 0; at = querystring.indexOf('&', at + 1))
    count += 1;
  if (count <= queryParametersMax) return;
  throw problem.validation(`The address has more than ${queryParametersMax} query parameters.`);
}

/** The `WWW-Authenticate` challenge for a caller without a valid token (RFC 6750, section 3). */
function challengeOf({ kind, details }: Problem, { challenge }: RequestState): string | undefined {
  const own = challenge === undefined ? [] : [challenge];
  if (kind === 'unauthorized') return ['Bearer', ...own].join(' ');
  const { scope } = details;
  if (kind !== 'forbidden' || typeof scope !== 'string') return undefined;
  return `Bearer ${[`error="insufficient_scope"`, `scope="${scope}"`, ...own].join(', ')}`;
}

/** The ids by which the log, the audit and Temporal know a request. */
const requestIds = (state: RequestState, { details }: Problem) => ({
  requestId: state.requestId,
  auditRequestId: state.ids.requestId,
  tenantId: state.tenantId,
  operation: state.operation?.id,
  executionId: details['flowExecutionId'],
});

function answerProblem(ctx: Context, error: unknown, platform: Platform): Problem {
  const state = ctx.state as RequestState;
  const failure = problemOf(error);
  const family = state.operation?.family ?? familyOfPath(ctx.path);
  // Refused requests are counted, not logged: a line for each would cost more than refusing it.
  if (failure.status >= 500 && failure.kind !== 'overloaded') {
    platform.log.error(
      { err: error, ...requestIds(state, failure), method: ctx.method, path: shownPath(ctx.path) },
      'request failed',
    );
  }
  if (failure.status === 429 && state.tenantId) platform.rateLimits.noteRefusal(state.tenantId);
  ctx.status = failure.status;
  ctx.type = 'application/json; charset=utf-8';
  const challenge = challengeOf(failure, state);
  if (challenge !== undefined) ctx.set('WWW-Authenticate', challenge);
  const { retryAfterSeconds: own } = failure.details;
  const retryAfter = typeof own === 'number' ? String(own) : retryAfterSeconds[failure.kind];
  if (retryAfter !== undefined) ctx.set('Retry-After', retryAfter);
  ctx.body = stringifyJson(presentProblem(family, failure, ctx.path));
  return failure;
}

/** The Koa application on an open platform; see `FillYear`. */
export function createApp(platform: Platform, fillYear?: FillYear): Koa {
  const app = new Koa();
  const router = new SegmentRouter({ sensitive: true });
  const guards = oauthGuards(platform);
  const resources: Readonly<Record<string, Readonly<Record<string, Operation>>>> = operations;
  const declared = Object.entries(resources).flatMap(([resource, declarations]) =>
    Object.entries(declarations).map(([name, operation]) => ({ resource, name, operation })),
  );
  declared.sort((a, b) => bySpecificity(a.operation, b.operation));
  for (const { resource, name, operation } of declared) {
    const ofResource: object = handlers[resource as keyof typeof handlers];
    const handler = ofResource[name as keyof typeof ofResource];
    mount(router, platform, operation, handler, guards[operation.id]);
  }
  mountOauth(router, platform);
  mountMcp(router, platform);
  mountHealth(router, platform);
  mountPublicKeys(router, platform);
  mountDocs(router);
  mountGuide(router);
  mountConsole(router, platform, fillYear);
  mountFrontPage(router, platform);
  const fixedHeaders = Object.entries(securityHeaders(platform.config.publicUrl));
  if (platform.tracing) app.use(traceRequests(platform.tracing));
  app.use(measureRequests(platform));
  app.use(async (ctx: Context, next: Next) => {
    const given = ctx.get('x-request-id');
    const requestId = requestIdOf(given);
    const state = ctx.state as RequestState;
    state.requestId = requestId;
    state.ids = auditIdsOf(requestId, given);
    ctx.res.setHeader('X-Request-Id', requestId);
    for (const [name, value] of fixedHeaders) ctx.res.setHeader(name, value);
    try {
      checkQuery(ctx);
      await next();
      if (ctx.status === 404 && ctx.body === undefined) {
        const unrouted = unroutedProblem(ctx);
        if (unrouted.kind !== 'notFound' || !showMissingPage(ctx)) throw unrouted;
      }
    } catch (error) {
      await holdRefusal(ctx, platform, answerProblem(ctx, error, platform));
    }
    answerBeforeEnd(ctx);
  });
  const { corsOrigins = [] } = platform.config;
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
  app.use(router.dispatch());
  app.on('error', (error: unknown, ctx?: Context) => {
    // A page that was closed, or a network that has gone, is no fault of ours.
    const isGone =
      ctx?.req.socket.errored === error ||
      (error as { code?: string } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (isGone) platform.log.debug({ err: error }, 'the caller has gone');
    else platform.log.error({ err: error }, 'response failed');
  });
  return app;
}
