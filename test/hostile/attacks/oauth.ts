import { examples } from '../../../src/schemas/openapi/examples.js';
import type { Attack } from '../attack.js';

/** What can be done without any tenant: keys, consent, registration, tokens. */

const prefix = '/api/oauth/per-user';
const form = { 'content-type': 'application/x-www-form-urlencoded' };

export const oauthAttacks: readonly Attack[] = [
  {
    name: 'guessed access keys',
    isShort: true,
    async run(attacker) {
      await attacker.flood((index) => ({
        path: '/api/v1/external/accounts',
        token: `dbk_${String(index).padStart(16, 'a')}_${'A'.repeat(43)}`,
      }));
    },
  },
  {
    name: 'guessed tokens',
    async run(attacker) {
      const [head = '', claims = ''] = attacker.token.split('.');
      await attacker.flood((index) => ({
        path: '/api/v1/external/accounts',
        token: `${head}.${claims}.${String(index).padStart(86, 'A')}`,
      }));
    },
  },
  {
    name: 'tokens of 15 KiB',
    async run(attacker) {
      await attacker.flood(() => ({ path: '/v1/webhooks', token: 'eyJhbGciOiJ'.repeat(1_300) }));
    },
  },
  {
    name: 'registration',
    operations: ['registerClient'],
    async run(attacker) {
      const uris = Array.from({ length: 20 }, (_each, index) => {
        return `http://localhost:33418/${'a'.repeat(1_900)}${index}`;
      });
      await attacker.flood((index) => ({
        path: `${prefix}/register`,
        method: 'POST',
        token: null,
        body: JSON.stringify({
          ...examples.registration,
          client_name: `c${index} ${'n'.repeat(190)}`,
          redirect_uris: uris,
        }),
      }));
    },
  },
  {
    name: 'authorization requests',
    operations: ['authorizeClient'],
    isShort: true,
    async run(attacker) {
      const registered = await attacker.send({
        path: `${prefix}/register`,
        method: 'POST',
        token: null,
        body: JSON.stringify(examples.registration),
      });
      const { client_id: id = 'none' } = (
        registered.status === 201 ? JSON.parse(registered.text) : {}
      ) as { client_id?: string };
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: id,
        state: 's'.repeat(2_000),
        redirect_uri: examples.registration.redirect_uris[0] ?? '',
        code_challenge: 'A'.repeat(43),
        code_challenge_method: 'S256',
        scope: 'mcp:read mcp:write',
      });
      await attacker.flood(() => ({
        path: `${prefix}/authorize?${query.toString()}`,
        token: null,
      }));
    },
  },
  {
    name: 'consent forms with guessed credentials',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: '/oauth/consent',
        method: 'POST',
        token: null,
        headers: form,
        body: `flow_id=${index}&decision=allow&credential=dbk_${String(index).padStart(16, 'a')}_${'A'.repeat(43)}`,
      }));
    },
  },
  {
    name: 'consent pages of flows that are none',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `/oauth/consent?flow_id=01939c6e-7a00-7000-8000-${String(index).padStart(12, '0')}`,
        token: null,
      }));
    },
  },
  {
    name: 'token endpoint with guessed codes',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `${prefix}/token`,
        method: 'POST',
        token: null,
        headers: form,
        body:
          `grant_type=authorization_code&client_id=${index}&code=${'c'.repeat(500)}${index}` +
          `&code_verifier=${'v'.repeat(64)}&redirect_uri=http://localhost/cb`,
      }));
    },
  },
  {
    name: 'token endpoint with guessed refresh tokens, in forms of 60 KB',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `${prefix}/token`,
        method: 'POST',
        token: null,
        headers: form,
        body: `grant_type=refresh_token&client_id=${index}&refresh_token=${'r'.repeat(60_000)}`,
      }));
    },
  },
  {
    name: 'revocation of guessed tokens',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `${prefix}/revoke`,
        method: 'POST',
        token: null,
        headers: form,
        body: `client_id=${index}&token=${'t'.repeat(2_000)}${index}`,
      }));
    },
  },
];
