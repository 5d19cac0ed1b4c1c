import { expect } from 'chai';
import {
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  SignJWT,
  type JWK,
  type JWTPayload,
} from 'jose';
import { createAccessKey, revokeAccessKey } from '../../src/access/access-keys.js';
import { secretBox } from '../../src/platform/secret-box.js';
import { listSigningKeys } from '../../src/access/signing-keys.js';
import { external, type TestTenant } from '../support/servers/instance.js';
import {
  expectTokenFault,
  movedClock,
  oauthSteps,
  uuidForm,
  type OauthSteps,
  type Parameters,
} from '../support/http/oauth.js';
import { sendRaw } from '../support/http/raw.js';
import { useInstance } from '../support/servers/use-instance.js';

const issuer = 'http://localhost';

describe('OAuth: tokens', () => {
  const clock = movedClock();
  const instance = useInstance({ now: clock.now, tokenSeconds: 80 * 86_400 });
  let steps: OauthSteps;
  let tenant: TestTenant;
  let clientId: string;
  before(async () => {
    steps = await oauthSteps(instance);
    tenant = await instance.tenant();
    clientId = await steps.client();
  });

  const call = (token: string, path = `${external}/accounts`) =>
    sendRaw(instance.url, { method: 'GET', path, headers: { Authorization: `Bearer ${token}` } });

  it('is a JWT that this API takes, of the user, for the client', async () => {
    const key = await createAccessKey(instance.platform.database.platform, {
      tenantId: tenant.id,
      orgId: 'org-7',
      roles: ['ADMIN'],
      name: null,
    });
    const { form } = await steps.code(clientId, key, { resource: `${issuer}/mcp` });
    const answer = await steps.token(form);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' });
    const body = JSON.parse(answer.text);
    expect(body).to.have.all.keys(
      'access_token',
      'token_type',
      'expires_in',
      'refresh_token',
      'scope',
    );
    expect(body).to.include({ token_type: 'Bearer', expires_in: 3600 });
    expect(body.scope).to.equal('mcp:read mcp:write');
    const header = decodeProtectedHeader(body.access_token as string);
    expect(header).to.include({ typ: 'at+jwt', alg: 'ES256' });
    expect(header.kid).to.equal(instance.platform.tokens.jwks.keys[0]?.kid);
    const claims = decodeJwt(body.access_token as string);
    expect(claims).to.deep.include({
      iss: issuer,
      aud: `${issuer}/mcp`,
      client_id: clientId,
      scope: body.scope,
      sub: `key:${key.split('_')[1]}`,
      tenantId: tenant.id,
      morgId: 'org-7',
      roles: ['ADMIN'],
    });
    expect(claims.jti).to.match(uuidForm);
    expect(Number(claims.exp) - Number(claims.iat)).to.equal(3600);
    expect((await call(body.access_token as string)).status).to.equal(200);
  });

  /** The same token with other claims or another type, signed with the instance's own key. */
  async function signedAgain(token: string, claims: JWTPayload, typ?: string): Promise<string> {
    const { config, database } = instance.platform;
    const [row] = await listSigningKeys(database.platform);
    const jwk = JSON.parse(secretBox(config.secret).open(row?.privateJwkSealed ?? '')) as JWK;
    const header = { ...decodeProtectedHeader(token), alg: 'ES256' };
    return new SignJWT({ ...decodeJwt(token), ...claims })
      .setProtectedHeader(typ === undefined ? header : { ...header, typ })
      .sign(await importJWK(jwk, 'ES256'));
  }

  it('is refused with another issuer or type, though the signature is right', async () => {
    const { access_token: token } = await steps.tokens(clientId, tenant.token);
    expect((await call(await signedAgain(token, {}))).status).to.equal(200);
    for (const [what, wrong] of [
      ['another issuer', await signedAgain(token, { iss: 'https://elsewhere.example' })],
      ['the issuer of own tokens', await signedAgain(token, { iss: 'durabill' })],
      ['the type of own tokens', await signedAgain(token, {}, 'JWT')],
      ['a type of something else', await signedAgain(token, {}, 'dpop+jwt')],
      ['an own token as a client', await signedAgain(tenant.token, {}, 'at+jwt')],
      ['an own token of another issuer', await signedAgain(tenant.token, { iss: 'x' })],
      ['an own token for a client', await signedAgain(tenant.token, { aud: `${issuer}/mcp` })],
    ] as const) {
      expect((await call(wrong)).status, what).to.equal(401);
    }
  });

  it('ends after an hour; a refresh gives the next', async () => {
    const first = await steps.tokens(clientId, tenant.token);
    clock.advance(3_601);
    expect((await call(first.access_token)).status).to.equal(401);
    const form = { grant_type: 'refresh_token', client_id: clientId };
    const answer = await steps.token({ ...form, refresh_token: first.refresh_token });
    expect(answer.status, answer.text).to.equal(200);
    const next = JSON.parse(answer.text);
    expect(next.refresh_token).to.not.equal(first.refresh_token);
    expect((await call(next.access_token as string)).status).to.equal(200);
    tenant = await instance.tenant();
  });

  const codeFaults: readonly (readonly [
    what: string,
    changes: Parameters,
    status: number,
    error: string,
  ])[] = [
    ['no grant type', { grant_type: undefined }, 400, 'invalid_request'],
    ['another grant type', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['a grant type of objects', { grant_type: 'toString' }, 400, 'unsupported_grant_type'],
    ['no client', { client_id: undefined }, 400, 'invalid_request'],
    ['an unknown client', { client_id: 'me' }, 401, 'invalid_client'],
    ['no code', { code: undefined }, 400, 'invalid_request'],
    ['an unknown code', { code: 'A'.repeat(43) }, 400, 'invalid_grant'],
    ['no verifier', { code_verifier: undefined }, 400, 'invalid_request'],
    ['a short verifier', { code_verifier: 'A'.repeat(42) }, 400, 'invalid_request'],
    ['a wrong verifier', { code_verifier: 'A'.repeat(43) }, 400, 'invalid_grant'],
    ['no redirect URI', { redirect_uri: undefined }, 400, 'invalid_request'],
    ['another redirect URI', { redirect_uri: 'http://localhost:1/callback' }, 400, 'invalid_grant'],
    ['another resource', { resource: `${issuer}/mcp` }, 400, 'invalid_target'],
    ['a parameter twice', { code: ['x', 'x'] }, 400, 'invalid_request'],
  ];
  // spec/gateway.md R24
  it('refuses what does not fit the code, which stays good', async () => {
    const { form } = await steps.code(clientId, tenant.token);
    for (const [what, changes, status, error] of codeFaults) {
      const answer = await steps.token({ ...form, ...changes });
      expect(answer.status, what).to.equal(status);
      expectTokenFault(answer, status, error);
    }
    const other = await steps.client();
    expectTokenFault(await steps.token({ ...form, client_id: other }), 400, 'invalid_grant');
    expect((await steps.token(form)).status).to.equal(200);
  });

  it('refuses a body that is no form', async () => {
    const { form } = await steps.code(clientId, tenant.token);
    const send = (type: string, body: string) =>
      sendRaw(instance.url, {
        method: 'POST',
        path: '/api/oauth/per-user/token',
        body,
        headers: { 'Content-Type': type },
      });
    const json = await send('application/json', JSON.stringify(form));
    expectTokenFault(json, 400, 'invalid_request');
    const large = await send('application/x-www-form-urlencoded', `x=${'y'.repeat(65_536)}`);
    expectTokenFault(large, 413, 'invalid_request');
  });

  it('refuses a code after five minutes', async () => {
    const { form } = await steps.code(clientId, tenant.token);
    clock.advance(5 * 60);
    expectTokenFault(await steps.token(form), 400, 'invalid_grant');
  });

  // spec/gateway.md R24
  it('gives tokens for a code once; a replay revokes them', async () => {
    const { form } = await steps.code(clientId, tenant.token);
    const tokens = JSON.parse((await steps.token(form)).text);
    expect((await call(tokens.access_token as string)).status).to.equal(200);
    expectTokenFault(await steps.token(form), 400, 'invalid_grant');
    expect((await call(tokens.access_token as string)).status).to.equal(401);
    const refresh = { grant_type: 'refresh_token', client_id: clientId };
    const refreshed = await steps.token({ ...refresh, refresh_token: tokens.refresh_token });
    expectTokenFault(refreshed, 400, 'invalid_grant');
  });

  it('gives tokens for a code once, also to eight requests at once', async () => {
    const { form } = await steps.code(clientId, tenant.token);
    const answers = await Promise.all(Array.from({ length: 8 }, () => steps.token(form)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given).to.have.length(1);
    for (const answer of answers) {
      if (answer.status !== 200) expectTokenFault(answer, 400, 'invalid_grant');
    }
    const { access_token: token } = JSON.parse(given[0]?.text ?? '');
    expect((await call(token as string)).status).to.equal(401);
  });

  // spec/gateway.md R24
  it('rotates refresh tokens; a replay revokes the whole family', async () => {
    const first = await steps.tokens(clientId, tenant.token);
    const refresh = (token: string) =>
      steps.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token });
    const second = JSON.parse((await refresh(first.refresh_token)).text);
    const third = JSON.parse((await refresh(second.refresh_token as string)).text);
    expect((await call(third.access_token as string)).status).to.equal(200);
    expectTokenFault(await refresh(first.refresh_token), 400, 'invalid_grant');
    for (const token of [first.access_token, second.access_token, third.access_token]) {
      expect((await call(token as string)).status).to.equal(401);
    }
    expectTokenFault(await refresh(third.refresh_token as string), 400, 'invalid_grant');
  });

  it('refreshes once of eight requests at once', async () => {
    const { refresh_token: token } = await steps.tokens(clientId, tenant.token);
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: token };
    const answers = await Promise.all(Array.from({ length: 8 }, () => steps.token(form)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
  });

  it('refreshes once, also where a second request knows an earlier time than the first', async () => {
    const { refresh_token: token } = await steps.tokens(clientId, tenant.token);
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: token };
    clock.advance(5);
    expect((await steps.token(form)).status).to.equal(200);
    clock.advance(-5);
    expectTokenFault(await steps.token(form), 400, 'invalid_grant');
  });

  it('refuses refresh tokens that are not for this, or no longer', async () => {
    const { refresh_token: token } = await steps.tokens(clientId, tenant.token);
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: token };
    const faults: readonly (readonly [changes: Parameters, error: string])[] = [
      [{ refresh_token: undefined }, 'invalid_request'],
      [{ refresh_token: 'A'.repeat(43) }, 'invalid_grant'],
      [{ client_id: await steps.client() }, 'invalid_grant'],
      [{ scope: 'mcp:read openid' }, 'invalid_scope'],
      [{ resource: `${issuer}/mcp` }, 'invalid_target'],
    ];
    for (const [changes, error] of faults) {
      expectTokenFault(await steps.token({ ...form, ...changes }), 400, error);
    }
    clock.advance(30 * 86_400);
    expectTokenFault(await steps.token(form), 400, 'invalid_grant');
    tenant = await instance.tenant();
    clientId = await steps.client();
  });

  it('refreshes with fewer scopes, and does not lose the others', async () => {
    const { refresh_token: token } = await steps.tokens(clientId, tenant.token);
    const form = { grant_type: 'refresh_token', client_id: clientId };
    const less = await steps.token({ ...form, refresh_token: token, scope: 'mcp:read' });
    const answer = JSON.parse(less.text);
    expect(answer.scope).to.equal('mcp:read');
    const more = await steps.token({ ...form, refresh_token: answer.refresh_token });
    expect(JSON.parse(more.text).scope).to.equal('mcp:read mcp:write');
  });

  it('gives no refresh token to a client that registered for none', async () => {
    const once = await steps.client({ grant_types: ['authorization_code'] });
    const { form } = await steps.code(once, tenant.token);
    const tokens = JSON.parse((await steps.token(form)).text);
    expect(tokens).to.not.have.property('refresh_token');
    const refresh = { grant_type: 'refresh_token', client_id: once, refresh_token: 'x' };
    expectTokenFault(await steps.token(refresh), 400, 'invalid_grant');
    const whoever = await steps.client({ grant_types: undefined });
    expect(await steps.tokens(whoever, tenant.token)).to.have.property('refresh_token');
  });

  it('is not refreshed after the access key that allowed it is revoked', async () => {
    const db = instance.platform.database.platform;
    const key = await createAccessKey(db, {
      tenantId: tenant.id,
      orgId: null,
      roles: ['ADMIN'],
      name: null,
    });
    const tokens = await steps.tokens(clientId, key);
    await revokeAccessKey(db, key.split('_')[1] ?? '');
    const form = { grant_type: 'refresh_token', client_id: clientId };
    const answer = await steps.token({ ...form, refresh_token: tokens.refresh_token });
    expectTokenFault(answer, 400, 'invalid_grant');
    expect((await call(tokens.access_token)).status).to.equal(401);
  });
});
