import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { createAccessKey, listAccessKeys, revokeAccessKey } from '../../src/access/access-keys.js';
import { removeSigningKey, rotateSigningKey } from '../../src/access/signing-keys.js';
import { resumeTenant, suspendTenant } from '../../src/access/tenants.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { expectTokenFault, oauthSteps, type OauthSteps } from '../support/http/oauth.js';
import { sendRaw } from '../support/http/raw.js';

const path = '/api/v1/external/currencies?size=1';

/** What ends with a credential, tried in two processes on one database. */
describe('what ends with the credential that made it', function () {
  this.timeout(120_000);
  let first: TestInstance;
  let second: TestInstance;
  let steps: OauthSteps;
  let clientId: string;
  let tenant: TestTenant;
  before(async () => {
    first = await openTestInstance();
    second = await openTestInstance({ beside: first });
    steps = await oauthSteps(first);
    clientId = await steps.client({ grant_types: ['authorization_code', 'refresh_token'] });
  });
  beforeEach(async () => {
    tenant = await first.tenant();
  });
  after(async () => {
    await second.close();
    await first.close();
  });

  const db = () => first.platform.database.platform;
  const statusOf = async ({ url }: TestInstance, bearer: string) =>
    (await sendRaw(url, { method: 'GET', path, headers: { Authorization: `Bearer ${bearer}` } }))
      .status;
  const both = (bearer: string) => Promise.all([statusOf(first, bearer), statusOf(second, bearer)]);

  /** Waits until both processes answer so; fails after ten seconds. */
  const expectBoth = async (bearer: string, status: number) => {
    const until = performance.now() + 10_000;
    let seen = await both(bearer);
    while (seen.some((one) => one !== status) && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      seen = await both(bearer);
    }
    expect(seen).to.deep.equal([status, status]);
  };
  const keyOf = (expiresAt: Date | null = null) =>
    createAccessKey(db(), {
      tenantId: tenant.id,
      orgId: 'org',
      roles: ['ADMIN'],
      name: null,
      expiresAt,
    });
  const tokenFor = (expiresInSeconds: number, { platform } = first) =>
    platform.tokens.issue({
      tenantId: tenant.id,
      orgId: 'org',
      roles: ['ADMIN'],
      subject: 'user',
      expiresInSeconds,
    });
  const refresh = (token: string) =>
    steps.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token });
  const jtiOf = (token: string) => decodeJwt(token).jti ?? '';

  it('a grant that was made with a token of some seconds ends with it', async () => {
    const credential = await tokenFor(4);
    const waiting = await steps.code(clientId, credential);
    const tokens = await steps.tokens(clientId, credential);
    expect(tokens.expires_in).to.be.within(1, 4);
    await expectBoth(tokens.access_token, 200);
    await expectBoth(tokens.access_token, 401);
    expectTokenFault(await refresh(tokens.refresh_token), 400, 'invalid_grant');
    expectTokenFault(await steps.token(waiting.form), 400, 'invalid_grant');
  });

  it('a revoked key ends its tokens, and its codes buy nothing', async () => {
    const key = await keyOf();
    const waiting = await steps.code(clientId, key);
    const tokens = await steps.tokens(clientId, key);
    expect(await both(tokens.access_token)).to.deep.equal([200, 200]);
    expect(await both(key)).to.deep.equal([200, 200]);
    await revokeAccessKey(db(), key.split('_')[1] ?? '');
    // Tokens of clients are looked up each time.
    expect(await both(tokens.access_token)).to.deep.equal([401, 401]);
    expectTokenFault(await steps.token(waiting.form), 400, 'invalid_grant');
    expectTokenFault(await refresh(tokens.refresh_token), 400, 'invalid_grant');
    await expectBoth(key, 401);
  });

  // spec/beyond.md R10
  it('a key ends when it expires, with what came of it', async () => {
    const key = await keyOf(new Date(Date.now() + 3_000));
    const tokens = await steps.tokens(clientId, key);
    expect(tokens.expires_in).to.be.within(1, 3);
    await expectBoth(key, 200);
    await expectBoth(key, 401);
    await expectBoth(tokens.access_token, 401);
    expectTokenFault(await refresh(tokens.refresh_token), 400, 'invalid_grant');
  });

  it('a token that is revoked by its id is refused everywhere, with its grants', async () => {
    const credential = await tokenFor(3_600);
    const tokens = await steps.tokens(clientId, credential);
    await expectBoth(credential, 200);
    const jti = jtiOf(credential);
    const { body } = await tenant.post(`/v1/tokens/${jti}/revoke`).expect(200);
    expect(body).to.include({ jti, revokedBy: 'tester' });
    await expectBoth(credential, 401);
    expect(await both(tokens.access_token)).to.deep.equal([401, 401]);
    expectTokenFault(await refresh(tokens.refresh_token), 400, 'invalid_grant');
    const list = await tenant.get('/v1/tokens/revocations').expect(200);
    expect(list.body.data.map((one: { jti: string }) => one.jti)).to.deep.equal([jti]);
    const audit = await tenant.get('/v1/audit?entity=accessToken').expect(200);
    expect(audit.body.data[0]).to.include({ action: 'revoke', entityKey: jti, actor: 'tester' });
    await tenant.post('/v1/tokens/nonsense/revoke').expect(404);
  });

  it('another tenant cannot revoke a token by its id, nor see or revoke a grant', async () => {
    const credential = await tokenFor(3_600);
    await steps.tokens(clientId, credential);
    const { body } = await tenant.get('/v1/oauth/grants').expect(200);
    const other = await first.tenant();
    await other.post(`/v1/tokens/${jtiOf(credential)}/revoke`).expect(200);
    await other.delete(`/v1/oauth/grants/${String(body.data[0].id)}`).expect(404);
    expect((await other.get('/v1/oauth/grants').expect(200)).body.data).to.deep.equal([]);
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    expect(await both(credential)).to.deep.equal([200, 200]);
  });

  it('grants are listed and revoked', async () => {
    const key = await keyOf();
    const tokens = await steps.tokens(clientId, key);
    const { body } = await tenant.get('/v1/oauth/grants').expect(200);
    expect(body.pagination.total).to.equal(1);
    const [grant] = body.data;
    expect(grant).to.deep.include({
      clientId,
      clientName: 'Billing assistant',
      accessKeyId: key.split('_')[1],
      roles: ['ADMIN'],
      scopes: ['mcp:read', 'mcp:write'],
      revokedAt: null,
      endsAt: null,
    });
    await tenant.delete(`/v1/oauth/grants/${String(grant.id)}`).expect(204);
    expect(await both(tokens.access_token)).to.deep.equal([401, 401]);
    expectTokenFault(await refresh(tokens.refresh_token), 400, 'invalid_grant');
    const [revoked] = (await tenant.get('/v1/oauth/grants').expect(200)).body.data;
    expect(revoked.revokedReason).to.equal('by tester');
    expect(revoked.revokedAt).to.be.a('string');
    // Again, which changes nothing.
    await tenant.delete(`/v1/oauth/grants/${String(grant.id)}`).expect(204);
    const audit = await tenant.get('/v1/audit?entity=oauthGrant').expect(200);
    const actions = audit.body.data.map((one: { action: string }) => one.action);
    expect(actions).to.deep.equal(['revoke', 'exchange', 'approve']);
  });

  it('a tenant that is suspended is refused with all it has, and goes on when resumed', async () => {
    const key = await keyOf();
    const tokens = await steps.tokens(clientId, key);
    for (const bearer of [key, tenant.token]) await expectBoth(bearer, 200);
    await suspendTenant(db(), tenant.id, new Date());
    for (const bearer of [tokens.access_token, key, tenant.token]) await expectBoth(bearer, 403);
    const { text } = await sendRaw(first.url, {
      method: 'GET',
      path,
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(text).to.include(`The tenant '${tenant.id}' is suspended.`);
    await tenant.post('/v1/ingest/usage', { message: {} }).expect(403);
    await tenant.post('/v1/ingest/usage/batch', [{ message: {} }]).expect(403);
    expectTokenFault(await refresh(tokens.refresh_token), 400, 'invalid_grant');
    await resumeTenant(db(), tenant.id);
    for (const bearer of [tokens.access_token, key, tenant.token]) await expectBoth(bearer, 200);
    expect((await refresh(tokens.refresh_token)).status).to.equal(200);
  });

  // spec/beyond.md R10
  it('the last use of a key is noted, once a minute', async () => {
    const key = await keyOf();
    const usedAt = async () => {
      const keys = await listAccessKeys(db(), tenant.id);
      return keys.find(({ id }) => key.includes(id))?.usedAt;
    };
    expect(await usedAt()).to.equal(null);
    await both(key);
    let noted = await usedAt();
    for (let tries = 0; noted === null && tries < 50; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      noted = await usedAt();
    }
    expect(noted?.getTime()).to.be.within(Date.now() - 10_000, Date.now());
    await both(key);
    expect(await usedAt()).to.deep.equal(noted);
  });

  // The last one: processes sign with the removed key for some seconds.
  it('a signing key that is removed ends its tokens and their grants', async () => {
    const credential = await tokenFor(3_600);
    const tokens = await steps.tokens(clientId, credential);
    await expectBoth(credential, 200);
    const kid = first.platform.tokens.jwks.keys[0]?.kid ?? '';
    await rotateSigningKey(db(), first.platform.secrets);
    await expectBoth(credential, 200);
    await removeSigningKey(db(), kid);
    await expectBoth(credential, 401);
    await expectBoth(tokens.access_token, 401);
    expectTokenFault(await refresh(tokens.refresh_token), 400, 'invalid_grant');
  });
});
