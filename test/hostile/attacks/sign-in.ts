import { examples } from '../../../src/schemas/openapi/examples.js';
import { formOf } from '../../support/http/oauth.js';
import type { Attack } from '../attack.js';
import type { Answer, Attacker } from '../attacker.js';

/** Sign-in by a provider that is hostile, too (`provider.ts`); nobody here has a tenant. */

const prefix = '/api/oauth/per-user';
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const cookieOf = ({ cookies = [] }: Answer): string =>
  cookies.map((cookie) => cookie.split(';')[0] ?? '').join('; ');

const parametersOf = ({ location = '' }: Answer): URLSearchParams =>
  new URL(location, 'http://localhost').searchParams;

/** A sign-in that was begun as a browser begins it; each state may come back as often as one likes. */
async function beginSignIn(attacker: Attacker) {
  const registered = await attacker.send({
    path: `${prefix}/register`,
    method: 'POST',
    token: null,
    body: JSON.stringify(examples.registration),
  });
  const { client_id: clientId = '' } = JSON.parse(registered.text) as { client_id?: string };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    state: 's',
    redirect_uri: examples.registration.redirect_uris[0] ?? '',
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
    scope: 'mcp:read mcp:write',
  });
  const asked = await attacker.send({
    path: `${prefix}/authorize?${query.toString()}`,
    token: null,
  });
  const cookie = cookieOf(asked);
  const headers = { cookie };
  const flowId = parametersOf(asked).get('flow_id') ?? '';
  const screen = await attacker.send({
    path: `/oauth/consent?flow_id=${flowId}`,
    token: null,
    headers,
  });
  const decision = { ...formOf(screen.text), decision: 'provider' };
  const left = await attacker.send({
    path: '/oauth/consent',
    method: 'POST',
    token: null,
    headers: { ...form, cookie },
    body: new URLSearchParams(decision).toString(),
  });
  const state = parametersOf(left).get('state');
  if (state === null)
    throw new Error(`Nobody is sent to the provider: ${left.status} ${left.text}`);
  return { headers, state };
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export const signInAttacks: readonly Attack[] = [
  {
    name: 'sign-ins whose provider never answers, or with as much as may be',
    async run(attacker) {
      const { headers, state } = await beginSignIn(attacker);
      await attacker.flood((index) => ({
        path: `/oauth/signed-in?code=${'c'.repeat(1_000)}${index}&state=${state}`,
        token: null,
        headers,
      }));
    },
  },
  {
    name: 'sign-ins that nobody began',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `/oauth/signed-in?code=${index}&state=${'s'.repeat(6_000)}.${index}`,
        token: null,
        headers: { cookie: `durabill_oauth=${'c'.repeat(43)}` },
      }));
    },
  },
  {
    name: 'ends of sign-ins by keys that the provider does not have',
    async run(attacker) {
      const claims = base64({ iss: 'a', aud: 'durabill', sid: 's'.repeat(9_000) });
      await attacker.flood((index) => ({
        path: '/oauth/signed-out',
        method: 'POST',
        token: null,
        headers: form,
        body: `logout_token=${base64({ alg: 'RS256', kid: `key-${index % 600}` })}.${claims}.${'A'.repeat(342)}`,
      }));
    },
  },
];
