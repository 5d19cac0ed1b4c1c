import { createHmac, timingSafeEqual } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { databaseProblem } from '../../commands/rules/database-problem.js';
import { isUuid } from '../../kernel/id.js';
import { isOauthScope, oauthScopes } from '../../kernel/oauth-scope.js';
import { Problem, problem } from '../../kernel/problem.js';
import { plainName } from '../../kernel/text/shown-name.js';
import { findOauthClient } from '../../access/oauth/clients.js';
import { consoleClientId, consoleRedirectUris } from '../../access/oauth/console-client.js';
import { denyFlow, isDecided, type PendingFlow, type ShownFlow } from '../../access/oauth/flows.js';
import { allowFlow } from '../../access/oauth/grants.js';
import { purgeOauth } from '../../access/oauth/purge.js';
import { hashOf } from '../../access/oauth/secret.js';
import type { Identity } from '../../access/identity.js';
import { shownPath } from '../../platform/log.js';
import type { Platform } from '../../process/platform.js';
import { publicUrlFor, publicUrls } from '../../platform/config/public-url.js';
import { noteFailedSignIn } from '../guards/failed-sign-ins.js';
import { clientOf, type RequestState } from '../mount.js';
import { browserCookie, flowCookies } from './authorization.js';
import { readForm, required, type Form } from './form.js';
import { paths } from './metadata.js';
import { showPage } from '../pages/show-page.js';
import { withParameters } from './redirect-uri.js';

/** A flow that this browser began and nobody has decided, with the browser's secret. */
interface OpenFlow {
  readonly flow: ShownFlow;
  readonly secret: string;
  readonly isConsole: boolean;
}

/**
 * Whether the console asks, at its own address: no stranger can use its name, nor its client from the
 * port of another program.
 */
const isOfConsole = ({ config }: Platform, { clientId, redirectUri }: PendingFlow): boolean =>
  clientId === consoleClientId &&
  consoleRedirectUris(publicUrls(config.publicUrl)).includes(redirectUri);

const decidedBefore = (): Problem => problem.conflict('You have decided about this request.');

const unknownFlow = (): Problem => problem.validation('This request is not known.');

/** A flow of ours, and at most 15 minutes old. */
function checkCurrent({ oauthFlows, now }: Platform, flowId: string): void {
  const end = isUuid(flowId) ? oauthFlows.endOf(flowId) : undefined;
  if (end === undefined) throw unknownFlow();
  if (end <= now()) throw problem.validation('This request has expired.');
}

/** What the browser that began a flow holds of it: no other one can open it. */
function openSealed({ oauthFlows }: Platform, ctx: Context, flowId: string) {
  const secret = ctx.cookies.get(browserCookie);
  const sealed = flowCookies.map((name) => ctx.cookies.get(name) ?? '');
  const flow = secret === undefined ? undefined : oauthFlows.open(flowId, secret, sealed);
  if (secret !== undefined && flow) return { flow, secret };
  throw problem.forbidden('This request was begun in another browser.');
}

async function openFlow(platform: Platform, ctx: Context, flowId: string): Promise<OpenFlow> {
  checkCurrent(platform, flowId);
  const { flow, secret } = openSealed(platform, ctx, flowId);
  const db = platform.database.platform;
  // OAuth 2.1, section 4.1.2: one decision makes one code.
  if (await isDecided(db, flowId)) throw decidedBefore();
  const client = await findOauthClient(db, flow.clientId);
  if (!client) throw unknownFlow();
  return {
    flow: { ...flow, clientName: plainName(client.name) },
    secret,
    isConsole: isOfConsole(platform, flow),
  };
}

/** Proves that a form came from the page of this flow in this browser. */
const csrfToken = ({ flow, secret }: OpenFlow): string =>
  createHmac('sha256', secret).update(flow.id).digest('base64url');

function checkCsrf(open: OpenFlow, given: string): void {
  if (timingSafeEqual(hashOf(given), hashOf(csrfToken(open)))) return;
  throw problem.forbidden('This form is not the one that was shown to you.');
}

/** Where the user will be, as far as it says who gets the code. */
function destinationOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : `the app of ${protocol}//`;
}

/**
 * The scopes that a user may take away. Whoever may change data may read it, so that reading goes
 * with all else, by denying it.
 */
const isOptional = (scope: string, scopes: readonly string[]): boolean =>
  scopes.length > 1 && scope !== 'mcp:read';

/** What the user left of the scopes; a form that says nothing of one leaves it. */
const keptScopes = ({ scopes }: ShownFlow, form: Form): readonly string[] =>
  scopes.filter((scope) => !isOptional(scope, scopes) || form.get(`scope.${scope}`) !== 'no');

function showConsent(ctx: Context, open: OpenFlow, fault?: string): void {
  const { id: flowId, clientName, redirectUri, scopes, expiresAt } = open.flow;
  const name = clientName ?? 'An application without a name';
  showPage(ctx, fault === undefined ? 200 : 401, 'consent', {
    title: open.isConsole ? 'Sign in to the console' : `${name} asks for access`,
    isConsole: open.isConsole,
    flowId,
    csrf: csrfToken(open),
    clientName: name,
    fault,
    destination: destinationOf(redirectUri),
    scopes: scopes.filter(isOauthScope).map((scope) => ({
      ...oauthScopes[scope],
      name: scope,
      isOptional: isOptional(scope, scopes),
    })),
    expires: expiresAt.toISOString().slice(11, 16),
  });
}

/** RFC 9207: the client is told who answers. 303 makes the browser forget the form (RFC 9700, 4.12). */
function sendBack(
  ctx: Context,
  { redirectUri, state }: ShownFlow,
  answer: Readonly<Record<string, string>>,
  issuer: string,
): void {
  ctx.body = null;
  ctx.status = 303;
  ctx.set('Location', withParameters(redirectUri, { ...answer, state, iss: issuer }));
}

/**
 * Who the user is: an access key or token of this instance. A client's
 * token is none of theirs: with it, a client could give itself more than it was allowed.
 */
async function signIn(platform: Platform, credential: string): Promise<Identity | string> {
  try {
    const identity = await platform.authenticate(credential.trim());
    return identity.grant || identity.accountId !== undefined
      ? 'This token belongs to an application. Use an access key or token of your own.'
      : identity;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // 403: its tenant is suspended.
    if (error.kind === 'unauthorized' || error.kind === 'forbidden') return error.message;
    throw error;
  }
}

async function decide(ctx: Context, platform: Platform): Promise<void> {
  const form = await readForm(ctx);
  const open = await openFlow(platform, ctx, required(form, 'flow_id'));
  checkCsrf(open, form.get('csrf') ?? '');
  const { flow } = open;
  const { database, config, now } = platform;
  const issuer = publicUrlFor(config.publicUrl, ctx.host);
  const decision = required(form, 'decision');
  if (decision === 'deny') {
    if (!(await denyFlow(database.platform, flow))) throw decidedBefore();
    platform.log.info({ clientId: flow.clientId }, 'consent denied');
    const error = { error: 'access_denied', error_description: 'The user did not allow it.' };
    sendBack(ctx, flow, error, issuer);
    return;
  }
  if (decision !== 'allow') throw problem.validation("'decision' must be allow or deny.");
  const client = clientOf(ctx, platform);
  platform.addressLimits.check('signIn', client);
  const identity = await signIn(platform, form.get('credential') ?? '');
  if (typeof identity === 'string') {
    platform.addressLimits.count('signIn', client);
    const { ids } = ctx.state as RequestState;
    await noteFailedSignIn(platform, ids, { address: client.group, clientId: flow.clientId });
    showConsent(ctx, open, identity);
    return;
  }
  const kept = { ...flow, scopes: keptScopes(flow, form) };
  const code = await allowFlow(database.platform, kept, identity, now());
  await purgeOauth(database.platform, now());
  if (code === undefined) throw decidedBefore();
  sendBack(ctx, flow, { code }, issuer);
}

const advice: Readonly<Record<number, readonly [title: string, advice: string]>> = {
  400: ['This request cannot be answered', 'Go back to the application and connect again.'],
  403: ['This is another browser', 'Open the link in the browser in which you began.'],
  409: ['This is decided already', 'You may close this page.'],
  429: ['These were too many attempts', 'Wait for a minute and try again.'],
};

function refuse(ctx: Context, error: unknown, platform: Platform): void {
  const failure = error instanceof Problem ? error : databaseProblem(error);
  if (!failure) platform.log.error({ err: error, path: shownPath(ctx.path) }, 'request failed');
  const status = failure?.status ?? 500;
  const [title, text] = advice[status] ?? ['This did not work', 'Try again in a moment.'];
  showPage(ctx, status, 'refusal', {
    title,
    advice: text,
    message: failure?.message ?? 'Something went wrong on our side.',
  });
}

/** The consent screen: what a client asks for, and what the user says to that. */
export function mountConsent(router: Router, platform: Platform): void {
  const page =
    (work: (ctx: Context) => Promise<void>) =>
    async (ctx: Context): Promise<void> => {
      try {
        await work(ctx);
      } catch (error) {
        refuse(ctx, error, platform);
      }
    };
  router.get(
    paths.consent,
    page(async (ctx) => {
      const { flow_id: flowId } = ctx.query;
      showConsent(ctx, await openFlow(platform, ctx, String(flowId)));
    }),
  );
  router.post(
    paths.consent,
    page((ctx) => decide(ctx, platform)),
  );
}
