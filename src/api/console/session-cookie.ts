import type { Context } from 'koa';
import { publicUrls } from '../../platform/config/public-url.js';
import type { Platform } from '../../process/platform.js';

/** Where cookies of the console are sent to, and nowhere else. */
const sessionPath = '/console/session';
const signInPath = '/console/signed-in';

/** As long as a grant that is not used: see `access/oauth/grants.ts`. */
const sessionSeconds = 30 * 86_400;
export const signInSeconds = 15 * 60;

/**
 * The name of a cookie. Browsers keep cookies by host, not by port: two instances of one machine have
 * names of their own. Under TLS the prefix keeps pages without it from writing one.
 */
function nameOf(kind: 'session' | 'sign_in', { publicUrl }: Platform['config']): string {
  const { protocol, port } = new URL(publicUrl);
  const prefix = protocol === 'https:' ? '__Secure-' : '';
  return `${prefix}durabill_console_${kind}${port === '' ? '' : `_${port}`}`;
}

/** By hand, as `send-answer.ts` does: Koa refuses `Secure` behind a proxy that terminates TLS. */
function writeCookie(
  ctx: Context,
  { config }: Platform,
  kind: 'session' | 'sign_in',
  { value, path, seconds }: { readonly value: string; readonly path: string; seconds: number },
): void {
  const secure = config.publicUrl.startsWith('https:') ? '; Secure' : '';
  // Who comes back from the provider of an organization comes from another site: a Strict one would stay
  // away. What is written there is worth nothing without the state that this browser was given.
  const sameSite = kind === 'sign_in' ? 'Lax' : 'Strict';
  const attributes = `Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure}`;
  ctx.append('Set-Cookie', `${nameOf(kind, config)}=${value}; ${attributes}`);
}

const secretForm = /^[A-Za-z0-9_-]{43}$/;

/** The refresh token of this browser; undefined: nobody has signed in with it. */
export function refreshTokenOf(ctx: Context, { config }: Platform): string | undefined {
  const value = ctx.cookies.get(nameOf('session', config));
  return value !== undefined && secretForm.test(value) ? value : undefined;
}

export const keepRefreshToken = (ctx: Context, platform: Platform, token: string): void =>
  writeCookie(ctx, platform, 'session', {
    value: token,
    path: sessionPath,
    seconds: sessionSeconds,
  });

export const forgetRefreshToken = (ctx: Context, platform: Platform): void =>
  writeCookie(ctx, platform, 'session', { value: '', path: sessionPath, seconds: 0 });

/** A sign-in that this browser has begun. */
export interface BegunSignIn {
  readonly state: string;
  readonly verifier: string;
  /** The page of the console that was asked for. */
  readonly to: string;
}

export const keepSignIn = (
  ctx: Context,
  platform: Platform,
  { state, verifier, to }: BegunSignIn,
): void =>
  writeCookie(ctx, platform, 'sign_in', {
    value: `${state}.${verifier}.${Buffer.from(to).toString('base64url')}`,
    path: signInPath,
    seconds: signInSeconds,
  });

export const forgetSignIn = (ctx: Context, platform: Platform): void =>
  writeCookie(ctx, platform, 'sign_in', { value: '', path: signInPath, seconds: 0 });

/** What this browser holds of the sign-in that it began; undefined: none. */
export function begunSignIn(ctx: Context, { config }: Platform): BegunSignIn | undefined {
  const [state = '', verifier = '', page = ''] = (
    ctx.cookies.get(nameOf('sign_in', config)) ?? ''
  ).split('.');
  if (!secretForm.test(state) || !secretForm.test(verifier)) return undefined;
  return { state, verifier, to: pageOf(Buffer.from(page, 'base64url').toString()) };
}

const longestPage = 2_000;

/** A page of the console; its first one for whatever is none, so that nobody is led elsewhere. */
export function pageOf(given: unknown): string {
  if (typeof given !== 'string' || given.length > longestPage) return '/console';
  const isOurs = /^\/console(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/.test(given);
  // A browser takes dots out of a path: nothing that would leave the console then.
  return isOurs && new URL(given, 'http://localhost').pathname.startsWith('/console')
    ? given
    : '/console';
}

/**
 * Whether a page of this instance sent a request. Browsers say so by themselves, and no page can say
 * otherwise; `SameSite` alone would let in those of other ports and subdomains.
 */
export function isFromConsole(ctx: Context, { config }: Platform): boolean {
  const site = ctx.get('sec-fetch-site');
  if (site !== '') return site === 'same-origin';
  return publicUrls(config.publicUrl).includes(ctx.get('origin'));
}
