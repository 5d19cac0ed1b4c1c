import { expect } from 'chai';
import { external } from '../support/servers/instance.js';
import {
  authorization,
  cookieOf,
  expectTokenFault,
  oauthSteps,
  pkce,
  type OauthSteps,
} from '../support/http/oauth.js';
import { sendRaw } from '../support/http/raw.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

describe('OAuth: what a token may do, and its end', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let steps: OauthSteps;
  let clientId: string;
  before(async () => {
    steps = await oauthSteps(instance);
    clientId = await steps.client();
  });

  const call = (token: string, path = `${external}/accounts`) =>
    sendRaw(instance.url, { method: 'GET', path, headers: { Authorization: `Bearer ${token}` } });

  describe('scopes', () => {
    it('with mcp:read the API can be read and not changed', async () => {
      const { access_token: token } = await steps.tokens(clientId, tenant.token, {
        scope: 'mcp:read',
      });
      expect((await call(token)).status).to.equal(200);
      const send = (method: string, path: string, body: object) =>
        sendRaw(instance.url, {
          method,
          path,
          body: JSON.stringify(body),
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        });
      const refused = await send('POST', `${external}/accounts`, { name: 'Acme' });
      expect(refused.status).to.equal(403);
      expect(refused.headers['www-authenticate']).to.equal(
        'Bearer error="insufficient_scope", scope="mcp:write"',
      );
      expect((await send('POST', '/v1/usage-events/simulate', [])).status).to.not.equal(403);
      // They do what they show, with its locks, and take it back.
      for (const of of ['void', 'credit-notes']) {
        const path = `/v1/invoices/${clientId}/${of}/preview`;
        expect((await send('POST', path, { reason: 'x' })).status, of).to.equal(403);
      }
    });

    it('with mcp:write it can be read and changed', async () => {
      const { access_token: token } = await steps.tokens(clientId, tenant.token, {
        scope: 'mcp:write',
      });
      const answer = await sendRaw(instance.url, {
        method: 'POST',
        path: `${external}/accounts`,
        body: '{"name":"Acme"}',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      });
      expect(answer.status, answer.text).to.equal(201);
      expect((await call(token)).status).to.equal(200);
    });

    it('tokens of a user without the role ADMIN have not more than the user', async () => {
      const powerless = await instance.token(tenant.id, []);
      const { access_token: token } = await steps.tokens(clientId, powerless);
      expect((await call(token)).status).to.equal(403);
    });

    it('tokens of one tenant never read what is of another', async () => {
      const stranger = await instance.tenant();
      const name = 'Only of the first';
      const made = await tenant.post(`${external}/accounts`, { name }).expect(201);
      const [own, foreign] = [
        await steps.tokens(clientId, tenant.token),
        await steps.tokens(clientId, stranger.token),
      ];
      const path = `${external}/accounts/${made.body.id}`;
      expect((await call(own.access_token, path)).status).to.equal(200);
      expect((await call(foreign.access_token, path)).status).to.equal(404);
      expect((await call(foreign.access_token)).text).to.not.include(name);
    });
  });

  describe('revocation', () => {
    it('ends a grant by either token', async () => {
      for (const kind of ['access_token', 'refresh_token'] as const) {
        const tokens = await steps.tokens(clientId, tenant.token);
        const answer = await steps.revoke({ client_id: clientId, token: tokens[kind] });
        expect(answer.status, answer.text).to.equal(200);
        expect((await call(tokens.access_token)).status).to.equal(401);
        const form = { grant_type: 'refresh_token', client_id: clientId };
        const refreshed = await steps.token({ ...form, refresh_token: tokens.refresh_token });
        expectTokenFault(refreshed, 400, 'invalid_grant');
      }
    });

    it('is done where there is nothing to revoke', async () => {
      for (const token of ['nonsense', tenant.token]) {
        const answer = await steps.revoke({ client_id: clientId, token, token_type_hint: 'x' });
        expect(answer.status, answer.text).to.equal(200);
      }
      expect((await call(tenant.token)).status).to.equal(200);
    });

    it('leaves the tokens of other clients alone', async () => {
      const tokens = await steps.tokens(clientId, tenant.token);
      const other = await steps.client();
      const form = { client_id: other, token: tokens.refresh_token };
      expectTokenFault(await steps.revoke(form), 400, 'invalid_grant');
      expect((await call(tokens.access_token)).status).to.equal(200);
      expectTokenFault(await steps.revoke({ client_id: clientId }), 400, 'invalid_request');
      expectTokenFault(await steps.revoke({ token: 'x', client_id: 'me' }), 401, 'invalid_client');
    });
  });

  it('keeps no secret in the clear', async () => {
    const { verifier, challenge } = pkce();
    const { code } = await steps.code(clientId, tenant.token, { code_challenge: challenge });
    const tokens = await steps.tokens(clientId, tenant.token);
    const cookie = cookieOf(await steps.authorize(authorization(clientId)));
    const { rows } = await instance.platform.database.platform.raw(`
      select to_jsonb(f)::text as row from oauth_decision f
      union all select to_jsonb(c)::text from oauth_code c
      union all select to_jsonb(r)::text from oauth_refresh_token r
      union all select to_jsonb(g)::text from oauth_grant g`);
    const stored = (rows as { row: string }[]).map(({ row }) => row).join('\n');
    const secrets = [verifier, code, tokens.refresh_token, tokens.access_token, tenant.token];
    expect(stored).to.include(challenge);
    for (const secret of [...secrets, cookie.split('=')[1] ?? '']) {
      expect(secret.length).to.be.at.least(43);
      expect(stored).to.not.include(secret);
      expect(stored).to.not.include(Buffer.from(secret).toString('hex'));
    }
  });
});
