import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { addMcpClient } from '../../../src/access/oauth/mcp-clients.js';
import { defined } from '../../../src/kernel/defined.js';
import { examples } from '../../../src/schemas/openapi/examples.js';
import type { TestInstance } from '../servers/instance.js';
import { sendRaw, type RawAnswer } from './raw.js';

/** A clock that a test moves. */
export interface MovedClock {
  readonly now: () => Date;
  advance(seconds: number): void;
}

export function movedClock(): MovedClock {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    advance(seconds) {
      ahead += seconds * 1000;
    },
  };
}

export const redirectUri = examples.registration.redirect_uris[0] ?? '';

/** A PKCE pair (RFC 7636). */
export function pkce() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Parameters; undefined leaves one out, a list repeats it. */
export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

export function encode(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  );
  return new URLSearchParams(pairs).toString();
}

/** What an answer gave a browser to keep. */
export function cookieOf(answer: RawAnswer): string {
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  return cookie.split(';')[0] ?? '';
}

/** All that an answer gave a browser to keep: the secret, and what was asked, sealed. */
export const cookiesOf = ({ headers }: RawAnswer): string[] =>
  [headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split(';')[0] ?? '');

/** The parameters of the address that an answer leads to. */
export const redirected = (answer: RawAnswer): Record<string, string> =>
  Object.fromEntries(new URL(String(answer.headers.location), 'http://localhost').searchParams);

/** The steps of OAuth as a client and a browser without scripts take them. */
export interface OauthSteps {
  register(changes?: object): Promise<RawAnswer>;
  /** A registered client's id. */
  client(changes?: object): Promise<string>;
  authorize(parameters: Parameters, cookie?: string): Promise<RawAnswer>;
  showConsent(flowId: string, cookie?: string): Promise<RawAnswer>;
  /** Answers the form of a consent page. */
  decide(parameters: Parameters, cookie?: string): Promise<RawAnswer>;
  token(parameters: Parameters): Promise<RawAnswer>;
  revoke(parameters: Parameters): Promise<RawAnswer>;
  /** From authorization to the code of an allowed flow. */
  code(clientId: string, credential: string, changes?: Parameters): Promise<Code>;
  /** From authorization to tokens. */
  tokens(clientId: string, credential: string, changes?: Parameters): Promise<Tokens>;
}

interface Code {
  readonly code: string;
  /** What the code is exchanged with. */
  readonly form: Parameters;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
}

const prefix = '/api/oauth/per-user';

/** Lets clients register, and takes them through the steps. */
export async function oauthSteps({ url, platform }: TestInstance): Promise<OauthSteps> {
  await addMcpClient(platform.database.platform, { name: 'any', authType: 'per_user_oauth' });
  return oauthStepsAt(url);
}

/** The steps at an instance where clients can register. */
export function oauthStepsAt(url: string): OauthSteps {
  const get = (path: string, cookie?: string) =>
    sendRaw(url, { method: 'GET', path, headers: cookie === undefined ? {} : { Cookie: cookie } });
  const post = (path: string, parameters: Parameters, cookie?: string) =>
    sendRaw(url, {
      method: 'POST',
      path,
      body: encode(parameters),
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...defined({ Cookie: cookie }),
      },
    });
  const steps: OauthSteps = {
    register: (changes = {}) =>
      sendRaw(url, {
        method: 'POST',
        path: `${prefix}/register`,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...examples.registration, ...changes }),
      }),
    async client(changes) {
      const answer = await steps.register(changes);
      return (JSON.parse(answer.text) as { client_id: string }).client_id;
    },
    authorize: (parameters, cookie) => get(`${prefix}/authorize?${encode(parameters)}`, cookie),
    showConsent: (flowId, cookie) => get(`/oauth/consent?flow_id=${flowId}`, cookie),
    decide: (parameters, cookie) => post('/oauth/consent', parameters, cookie),
    token: (parameters) => post(`${prefix}/token`, parameters),
    revoke: (parameters) => post(`${prefix}/revoke`, parameters),
    async code(clientId, credential, changes = {}) {
      const { verifier, challenge } = pkce();
      const request = authorization(clientId, { code_challenge: challenge, ...changes });
      const asked = await steps.authorize(request);
      const cookie = cookieOf(asked);
      const flowId = redirected(asked)['flow_id'] ?? '';
      const { text } = await steps.showConsent(flowId, cookie);
      const decision = { ...formOf(text), decision: 'allow', credential };
      const { code = '' } = redirected(await steps.decide(decision, cookie));
      const form = {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        code_verifier: verifier,
        redirect_uri: String(request['redirect_uri']),
      };
      return { code, form };
    },
    async tokens(clientId, credential, changes) {
      const { form } = await steps.code(clientId, credential, changes);
      return JSON.parse((await steps.token(form)).text) as Tokens;
    },
  };
  return steps;
}

/** A right authorization request, but for the changes. */
export const authorization = (clientId: string, changes: Parameters = {}): Parameters => ({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: redirectUri,
  state: 'xyz',
  code_challenge: 'A'.repeat(43),
  code_challenge_method: 'S256',
  ...changes,
});

/** The hidden fields of a consent page. */
export const formOf = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );

export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The gateway error body (spec/gateway.md R16). */
export function expectFault(answer: RawAnswer, expected: number, code: string): void {
  const { status, text } = answer;
  expect(status, text).to.equal(expected);
  const { event_id: eventId, error, ...rest } = JSON.parse(text);
  expect(rest).to.deep.equal({
    type: 'error',
    is_gateway_error: true,
    status_code: expected,
    extra_fields: { provider: null, model_requested: null, request_type: null },
  });
  expect(eventId).to.match(uuidForm);
  expect(Object.keys(error)).to.have.members(['type', 'code', 'message', 'param', 'event_id']);
  expect(error.code).to.equal(code);
  expect(error.event_id).to.equal(eventId);
  expect(error.message).to.match(/\S/);
}

/** RFC 6749, section 5.2: exactly the two members that clients act on. */
export function expectTokenFault(answer: RawAnswer, status: number, error: string): void {
  expect(answer.status, answer.text).to.equal(status);
  const body = JSON.parse(answer.text) as Record<string, string>;
  expect(Object.keys(body)).to.have.members(['error', 'error_description']);
  expect(body['error'], answer.text).to.equal(error);
  expect(answer.headers['cache-control']).to.equal('no-store');
}
