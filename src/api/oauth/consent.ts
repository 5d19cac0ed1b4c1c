import { createHmac, timingSafeEqual } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { databaseProblem } from '../../commands/rules/database-problem.js';
import { isOauthScope, oauthScopes } from '../../kernel/oauth-scope.js';
import { Problem, problem } from '../../kernel/problem.js';
import { denyFlow, type ShownFlow } from '../../access/oauth/pending-authorization.js';
import { hashOf } from '../../access/oauth/oauth-secret.js';
import type { Identity } from '../../access/authenticate.js';
import { shownPath } from '../../platform/log.js';
import type { Platform } from '../../process/platform.js';
import { publicUrlFor } from '../../platform/config/public-url.js';
import { noteFailedSignIn } from '../guards/failed-sign-ins.js';
import { clientOf, type RequestState } from '../mount-operations.js';
import { readForm, required, type Form } from './form.js';
import { paths } from './metadata.js';
import {
  decidedBefore,
  grantFlow,
  openFlow,
  sendBack,
  type OpenFlow,
} from './pending-authorization.js';
import { leaveForProvider, mountProviderSignIn } from './provider-sign-in.js';
import { showPage } from '../pages/show-page.js';

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

/** Where an organization has a provider, the field for a key is shown to who asks for it. */
const wantsKey = (ctx: Context): boolean => ctx.query['with'] === 'key';

function showConsent(
  ctx: Context,
  { signInProvider }: Platform,
  open: OpenFlow,
  fault?: string,
): void {
  const { id: flowId, clientName, redirectUri, scopes, expiresAt } = open.flow;
  const name = clientName ?? 'An application without a name';
  showPage(ctx, fault === undefined ? 200 : 401, 'consent', {
    title: open.isConsole ? 'Sign in to the console' : `${name} asks for access`,
    isConsole: open.isConsole,
    flowId,
    csrf: csrfToken(open),
    clientName: name,
    fault,
    provider: signInProvider?.host,
    takesKey: signInProvider === undefined || fault !== undefined || wantsKey(ctx),
    destination: destinationOf(redirectUri),
    scopes: scopes.filter(isOauthScope).map((scope) => ({
      ...oauthScopes[scope],
      name: scope,
      isOptional: isOptional(scope, scopes),
    })),
    expires: expiresAt.toISOString().slice(11, 16),
  });
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
  const decision = required(form, 'decision');
  if (decision === 'deny') {
    if (!(await denyFlow(platform.database.platform, flow))) throw decidedBefore();
    platform.log.info({ clientId: flow.clientId }, 'consent denied');
    const error = { error: 'access_denied', error_description: 'The user did not allow it.' };
    sendBack(ctx, flow, error, publicUrlFor(platform.config.publicUrl, ctx.host));
    return;
  }
  const kept = { ...flow, scopes: keptScopes(flow, form) };
  if (decision === 'provider') {
    await leaveForProvider(ctx, platform, { ...open, flow: kept });
    return;
  }
  if (decision !== 'allow') {
    throw problem.validation("'decision' must be allow, provider or deny.");
  }
  const client = clientOf(ctx, platform);
  platform.addressLimits.check('signIn', client);
  const identity = await signIn(platform, form.get('credential') ?? '');
  if (typeof identity === 'string') {
    platform.addressLimits.count('signIn', client);
    const { ids } = ctx.state as RequestState;
    await noteFailedSignIn(platform, ids, {
      at: 'consent',
      address: client.group,
      clientId: flow.clientId,
    });
    showConsent(ctx, platform, open, identity);
    return;
  }
  await grantFlow(ctx, platform, kept, identity);
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
  const { retryAfterSeconds } = failure?.details ?? {};
  if (typeof retryAfterSeconds === 'number') ctx.set('Retry-After', String(retryAfterSeconds));
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
      showConsent(ctx, platform, await openFlow(platform, ctx, String(flowId)));
    }),
  );
  router.post(
    paths.consent,
    page((ctx) => decide(ctx, platform)),
  );
  mountProviderSignIn(router, platform);
}
