import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  decodeJwt,
  exportJWK,
  generateKeyPair,
  importJWK,
  SignJWT,
  type JWK,
  type JWTPayload,
} from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import { oidcSettings, type OidcSettings } from '../../../src/platform/config/config-oidc.js';

type Claims = Record<string, unknown>;

/** What becomes of the ID tokens that the provider gives: their claims, signed with its key. */
export type Forge = (claims: JWTPayload, sign: Sign) => Promise<string>;
type Sign = (claims: JWTPayload, key?: JWK) => Promise<string>;

/** What the types of the package leave out of a client. */
interface LogoutClient {
  backchannelLogout(sub: string, sid: string): Promise<void>;
}

/** A real OpenID Connect provider in this process, which can be made to misbehave. */
export interface TestProvider {
  readonly issuer: string;
  readonly settings: OidcSettings;
  /** The claims of people by the name that they sign in with. */
  readonly people: Map<string, Claims>;
  /** The paths that it was asked for. */
  readonly asked: string[];
  /** Makes ID tokens others than they are. */
  forge: Forge | undefined;
  /** Answers in its place; returns whether it did. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Tells its client that a session is over, as a provider does when somebody signs out there. */
  logOut(sub: string, sid: string): Promise<void>;
  /** Signs claims with its key. */
  sign: Sign;
  /** Lets an instance be its client, with new keys. */
  admit(instanceUrl: string): Promise<void>;
  close(): Promise<void>;
}

const clientId = 'durabill';
const clientSecret = 'a secret of the client that nobody else knows';

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const kid = `key-${Math.random().toString(36).slice(2)}`;
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

/** A key that the provider does not have. */
export const unknownKey = newKey;

const signWith =
  (own: JWK): Sign =>
  async (claims, key = own) => {
    const { kid = '' } = key;
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(await importJWK(key, 'RS256'));
  };

const configurationOf = (instanceUrl: string, key: JWK, people: Map<string, Claims>) =>
  ({
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${instanceUrl}/oauth/signed-in`],
        backchannel_logout_uri: `${instanceUrl}/oauth/signed-out`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [key] },
    // Said here, so that it does not warn of what it would take.
    ttl: { AccessToken: 60, Grant: 600, IdToken: 3600, Interaction: 600, Session: 3600 },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    cookies: { keys: ['cookies of a test'] },
    // Claims of its scopes stand in the ID token, as most providers have them.
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'durabill_tenant', 'durabill_roles', 'groups', 'email'] },
    findAccount: (_ctx: unknown, sub: string) => ({
      accountId: sub,
      claims: () => Promise.resolve({ sub, ...people.get(sub) }),
    }),
    // Its own screen of consent is not what is tested.
    async loadExistingGrant(ctx) {
      const { provider, client, session } = ctx.oidc;
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  }) satisfies Configuration;

/** The page at which a person says who it is; no password is asked of anybody. */
const signInPage = `<!doctype html><title>Sign in at your organization</title>
<h1>Your organization</h1>
<form method="post">
  <label>Name <input name="login" autofocus></label>
  <button>Sign in</button>
</form>`;

/** Shows that page, and signs in who answers it. */
async function interact(
  made: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(signInPage);
    return;
  }
  let body = '';
  for await (const part of request) body += String(part);
  const accountId = new URLSearchParams(body).get('login') ?? '';
  const result = { login: { accountId } };
  await made.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** Opens a provider at a name of this machine that is another site than the instance's. */
export async function openTestProvider(): Promise<TestProvider> {
  let handle: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
  const server = createServer((request, response) => {
    provider.asked.push((request.url ?? '').split('?')[0] ?? '');
    if (provider.intercept?.(request, response) === true) return;
    if (handle) void handle(request, response);
    else response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const settings = oidcSettings({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  });
  if (!settings) throw new Error('There are no settings.');
  const provider: TestProvider = {
    issuer,
    settings,
    people: new Map(),
    asked: [],
    forge: undefined,
    intercept: undefined,
    logOut: () => Promise.reject(new Error('Nobody is admitted.')),
    sign: () => Promise.reject(new Error('There is no key.')),
    async admit(instanceUrl) {
      const key = await newKey();
      const made = new Provider(issuer, configurationOf(instanceUrl, key, provider.people));
      made.use(async (ctx, next) => {
        await next();
        const body = ctx.body as { id_token?: string } | undefined;
        if (!provider.forge || typeof body?.id_token !== 'string') return;
        body.id_token = await provider.forge(decodeJwt(body.id_token), signWith(key));
      });
      provider.sign = signWith(key);
      provider.logOut = async (sub, sid) => {
        const client = (await made.Client.find(clientId)) as unknown as LogoutClient;
        await client.backchannelLogout(sub, sid);
      };
      const answer = made.callback();
      handle = (request, response) =>
        request.url?.startsWith('/interaction/') === true
          ? interact(made, request, response)
          : answer(request, response);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}

/** The cookies of a browser without scripts, by name. */
class CookieJar {
  readonly #cookies = new Map<string, string>();

  keep(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
  }

  get header(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

/** Signs in at the provider, where a browser was sent; the address that it is sent back to. */
export async function signInAtProvider(address: string, login: string): Promise<URL> {
  const jar = new CookieJar();
  const { origin } = new URL(address);
  const ask = async (url: string, body?: URLSearchParams): Promise<string> => {
    const response = await fetch(new URL(url, origin), {
      redirect: 'manual',
      headers: { Cookie: jar.header },
      ...(body && { method: 'POST', body }),
    });
    jar.keep(response);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${response.status}: ${await response.text()}`);
    return location;
  };
  const interaction = await ask(address);
  const resumed = await ask(interaction, new URLSearchParams({ login }));
  return new URL(await ask(resumed));
}
