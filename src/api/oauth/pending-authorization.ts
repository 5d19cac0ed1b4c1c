import type { Context } from 'koa';
import { isUuid } from '../../kernel/id.js';
import { problem, type Problem } from '../../kernel/problem.js';
import { plainName } from '../../kernel/text/shown-name.js';
import { findOauthClient } from '../../access/oauth/clients.js';
import { consoleClientId, consoleRedirectUris } from '../../access/oauth/console-client.js';
import {
  isDecided,
  type PendingFlow,
  type ShownFlow,
} from '../../access/oauth/pending-authorization.js';
import { allowFlow, type Granter } from '../../access/oauth/grants.js';
import { purgeOauth } from '../../access/oauth/remove-expired.js';
import type { Platform } from '../../process/platform.js';
import { publicUrlFor, publicUrls } from '../../platform/config/public-url.js';
import { browserCookie, flowCookies } from './authorization.js';
import { withParameters } from './redirect-uri.js';

/** A flow that this browser began and nobody has decided, with the browser's secret. */
export interface OpenFlow {
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

export const decidedBefore = (): Problem =>
  problem.conflict('You have decided about this request.');

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

/**
 * The flow of an id in its browser. 400: it is not known, or over. 403: another browser began it. 409:
 * it was decided.
 */
export async function openFlow(
  platform: Platform,
  ctx: Context,
  flowId: string,
): Promise<OpenFlow> {
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

/** RFC 9207: the client is told who answers. 303 makes the browser forget the form (RFC 9700, 4.12). */
export function sendBack(
  ctx: Context,
  { redirectUri, state }: ShownFlow,
  answer: Readonly<Record<string, string>>,
  issuer: string,
): void {
  ctx.body = null;
  ctx.status = 303;
  ctx.set('Location', withParameters(redirectUri, { ...answer, state, iss: issuer }));
}

/** Gives a client what its user allowed, by way of the browser. 409: it was decided before. */
export async function grantFlow(
  ctx: Context,
  { database, config, now }: Platform,
  flow: ShownFlow,
  granter: Granter,
): Promise<void> {
  const code = await allowFlow(database.platform, flow, granter, now());
  await purgeOauth(database.platform, now());
  if (code === undefined) throw decidedBefore();
  sendBack(ctx, flow, { code }, publicUrlFor(config.publicUrl, ctx.host));
}
