import type Router from '@koa/router';
import type { Context } from 'koa';
import { databaseProblem } from '../../commands/rules/database-problem.js';
import { Problem, problem } from '../../kernel/problem.js';
import type { SignInProvider } from '../../messages/access/sign-in-provider.js';
import { personOf, type Person } from '../../access/oidc/person-by-claims.js';
import type { SignInRequest } from '../../access/oidc/sign-in-requests.js';
import { findTenant } from '../../access/tenants.js';
import { publicUrlFor } from '../../platform/config/public-url.js';
import { shownPath } from '../../platform/log.js';
import type { Platform } from '../../process/platform.js';
import { noteFailedSignIn } from '../guards/failed-sign-ins.js';
import { clientOf, type RequestState } from '../mount-operations.js';
import { showPage } from '../pages/show-page.js';
import { browserCookie } from './authorization.js';
import { paths } from './metadata.js';
import { endSignIns } from '../../access/oidc/ended-sign-ins.js';
import { answerFault } from './oauth-fault.js';
import { readForm, required } from './form.js';
import { grantFlow, openFlow, type OpenFlow } from './pending-authorization.js';

/** 404: nobody has configured a provider. */
function providerOf({ signInProvider }: Platform): SignInProvider {
  if (signInProvider) return signInProvider;
  throw problem.notFound('People of this instance sign in with access keys and tokens.');
}

/** Where the provider sends people back to: registered there, word for word. */
const redirectUriOf = ({ config }: Platform, ctx: Context): string =>
  `${publicUrlFor(config.publicUrl, ctx.host)}${paths.signedIn}`;

/** Each may cost the provider a request: counted before, and not only where it fails. */
function countAttempt(ctx: Context, platform: Platform): void {
  const client = clientOf(ctx, platform);
  platform.addressLimits.check('authorize', client);
  platform.addressLimits.count('authorize', client);
}

/**
 * Sends a person to the provider of the organization, with what was allowed so far in the state. 503:
 * the provider does not answer.
 */
export async function leaveForProvider(
  ctx: Context,
  platform: Platform,
  { flow, secret }: OpenFlow,
): Promise<void> {
  const provider = providerOf(platform);
  countAttempt(ctx, platform);
  const { secrets } = platform.signInRequests.begin(flow.id, flow.scopes, secret);
  const address = await provider.addressOf(secrets, redirectUriOf(platform, ctx));
  ctx.body = null;
  ctx.status = 303;
  ctx.set('Location', address);
}

/** What this browser began. 403: nothing, or another one did. */
function resumed(ctx: Context, { signInRequests }: Platform): SignInRequest {
  const { state } = ctx.query;
  const secret = ctx.cookies.get(browserCookie);
  const request =
    typeof state === 'string' && secret !== undefined
      ? signInRequests.resume(state, secret)
      : undefined;
  if (request) return request;
  throw problem.forbidden('This sign-in was not begun in this browser.', { reason: 'state' });
}

/** 403: the tenant that a person is of is not there, or suspended. */
async function checkTenant({ database }: Platform, person: Person): Promise<void> {
  const { tenantId, subject } = person;
  const tenant = await findTenant(database.platform, tenantId);
  if (!tenant) {
    const message = `You are signed in for the tenant '${tenantId}', which does not exist here.`;
    throw problem.forbidden(message, { reason: 'unknown tenant', subject });
  }
  if (tenant.suspendedAt !== null) {
    const message = `The tenant '${tenantId}' is suspended.`;
    throw problem.forbidden(message, { reason: 'suspended tenant', subject, tenantId });
  }
}

/** Who came back: 403 where the provider, or what it says of this person, lets nobody in. */
async function identify(
  ctx: Context,
  platform: Platform,
  { secrets }: SignInRequest,
): Promise<Person> {
  const { oidc } = platform.config;
  const provider = providerOf(platform);
  if (!oidc) throw problem.notFound('There is no provider.');
  const parameters = new URLSearchParams(ctx.querystring);
  const claims = await provider.claimsOf(parameters, secrets, redirectUriOf(platform, ctx));
  const person = personOf(claims, oidc);
  await checkTenant(platform, person);
  return person;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Counts and records what was refused; what was away is nobody's fault. */
async function noteFault(
  ctx: Context,
  platform: Platform,
  error: unknown,
  clientId: string,
): Promise<void> {
  if (!(error instanceof Problem) || error.kind !== 'forbidden') return;
  const client = clientOf(ctx, platform);
  platform.addressLimits.count('signIn', client);
  const { reason, tenantId, subject } = error.details;
  const { ids } = ctx.state as RequestState;
  const issuer = platform.signInProvider?.issuer ?? '';
  await noteFailedSignIn(
    platform,
    ids,
    { at: 'provider', address: client.group, clientId, issuer, reason: textOf(reason) ?? '' },
    { tenantId: textOf(tenantId), subject: textOf(subject) },
  );
}

/** A person is back from the provider: lets the client in that began, with the roles of the claims. */
async function comeBack(ctx: Context, platform: Platform): Promise<void> {
  providerOf(platform);
  platform.addressLimits.check('signIn', clientOf(ctx, platform));
  countAttempt(ctx, platform);
  const request = resumed(ctx, platform);
  const open = await openFlow(platform, ctx, request.flowId);
  const { flow } = open;
  let person: Person;
  try {
    person = await identify(ctx, platform, request);
  } catch (error) {
    await noteFault(ctx, platform, error, flow.clientId);
    throw withRetry(error, flow.id);
  }
  const { provider, ...who } = person;
  const { sessionMaxSeconds = 0 } = platform.config.oidc ?? {};
  const endsAt = new Date(platform.now().getTime() + sessionMaxSeconds * 1000);
  const granter = { ...who, orgId: null, signedIn: { ...provider, endsAt } };
  await grantFlow(ctx, platform, { ...flow, scopes: request.scopes }, granter);
}

/** The same problem, of a flow that still waits: its page leads back to it. */
const withRetry = (error: unknown, flowId: string): unknown =>
  error instanceof Problem
    ? new Problem(error.kind, error.message, { ...error.details, flowId })
    : error;

function refuse(ctx: Context, error: unknown, platform: Platform): void {
  const failure = error instanceof Problem ? error : databaseProblem(error);
  if (!failure) platform.log.error({ err: error, path: shownPath(ctx.path) }, 'request failed');
  const { retryAfterSeconds, flowId } = failure?.details ?? {};
  if (typeof retryAfterSeconds === 'number') ctx.set('Retry-After', String(retryAfterSeconds));
  showPage(ctx, failure?.status ?? 500, 'refusal', {
    title: 'You are not signed in',
    message: failure?.message ?? 'Something went wrong on our side.',
    advice: 'Nothing was changed.',
    link:
      typeof flowId === 'string'
        ? { href: `${paths.consent}?flow_id=${flowId}`, name: 'Try again' }
        : undefined,
  });
}

/**
 * The provider says, by itself, that a sign-in is over (OpenID Connect Back-Channel Logout 1.0, section
 * 2.8): what came of it here ends at once.
 */
async function endByProvider(ctx: Context, platform: Platform): Promise<void> {
  const provider = providerOf(platform);
  const client = clientOf(ctx, platform);
  // Each costs the provider a request for its keys.
  platform.addressLimits.check('token', client);
  platform.addressLimits.count('token', client);
  const token = required(await readForm(ctx), 'logout_token');
  const ended = await provider.endedBy(token);
  const { database, log, now } = platform;
  const count = await endSignIns(database.platform, provider.issuer, ended, now());
  log.info({ issuer: provider.issuer, count }, 'the provider ended a sign-in');
  ctx.body = null;
  ctx.status = 200;
}

/** The ways back from the provider of an organization (spec/gateway.md R441, R449). */
export function mountProviderSignIn(router: Router, platform: Platform): void {
  router.post(paths.signedOut, async (ctx: Context) => {
    try {
      await endByProvider(ctx, platform);
    } catch (error) {
      answerFault(ctx, error, platform);
    }
  });
  router.get(paths.signedIn, async (ctx: Context) => {
    try {
      await comeBack(ctx, platform);
    } catch (error) {
      refuse(ctx, error, platform);
    }
  });
}
