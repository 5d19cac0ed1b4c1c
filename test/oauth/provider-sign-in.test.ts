import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { suspendTenant } from '../../src/access/tenants.js';
import { redirected } from '../support/http/oauth.js';
import {
  expectNotSignedIn,
  openProviderWorld,
  type ProviderWorld,
} from '../support/http/provider-sign-in.js';
import { sendRaw } from '../support/http/raw.js';
import type { TestTenant } from '../support/servers/instance.js';

/** Sign-in of people at the provider of their organization, as a browser without scripts sees it. */
describe('signing in at the provider of an organization', function () {
  this.timeout(120_000);
  const lines: string[] = [];
  let world: ProviderWorld;
  before(async () => {
    world = await openProviderWorld({ logTo: { write: (line) => void lines.push(line) } });
  });
  after(() => world.close());

  const latestGrant = async () =>
    (await world.tenant.get('/v1/oauth/grants?limit=1').expect(200)).body.data[0];

  // spec/gateway.md R440
  it('sends a person there with PKCE, a state and a nonce, and asks for no key', async () => {
    const { provider, instance, leave } = world;
    const { screen, left, address } = await leave();
    expect(screen.text).to.not.include('name="credential"');
    expect(screen.text).to.include(`Allow and sign in with ${new URL(provider.issuer).host}`);
    expect(left.status).to.equal(303);
    const url = new URL(address);
    expect(url.origin).to.equal(provider.issuer);
    const {
      state,
      nonce,
      code_challenge: challenge,
      ...rest
    } = Object.fromEntries(url.searchParams);
    expect(rest).to.deep.equal({
      response_type: 'code',
      client_id: 'durabill',
      redirect_uri: `${instance.url}/oauth/signed-in`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    for (const random of [state, nonce, challenge]) expect(random).to.match(/^[\w.-]{43,}$/);
    const other = new URL((await leave()).address).searchParams;
    expect(other.get('nonce')).to.not.equal(nonce);
    expect(other.get('code_challenge')).to.not.equal(challenge);
  });

  it('still takes a key where somebody asks for that', async () => {
    const { flowId, cookie } = await world.leave();
    const { text } = await sendRaw(world.instance.url, {
      method: 'GET',
      path: `/oauth/consent?flow_id=${flowId}&with=key`,
      headers: { Cookie: cookie },
    });
    expect(text).to.include('name="credential"').and.include('value="allow"');
    expect(text).to.not.include('value="provider"');
  });

  // spec/gateway.md R441
  it('lets a client in with the tenant, the actor and the roles of the claims', async () => {
    const { instance, provider, tenant, signIn, tokensOf } = world;
    const signedIn = await signIn();
    const { state, iss } = redirected(signedIn.answer);
    expect({ state, iss }).to.deep.equal({ state: 'xyz', iss: instance.url });
    const { access_token: token } = await tokensOf(signedIn);
    const { tenantId, roles, sub, scope } = decodeJwt(token);
    expect({ tenantId, roles, sub, scope }).to.deep.equal({
      tenantId: tenant.id,
      roles: ['OPERATOR'],
      sub: 'oidc:ann',
      scope: 'mcp:read mcp:write',
    });
    const grant = await latestGrant();
    const { issuer } = provider;
    expect(grant).to.include({ subject: 'oidc:ann', accessKeyId: null, revokedAt: null, issuer });
    // Twelve hours, as nothing else is configured; both instants are taken one after the other.
    const life = Date.parse(grant.endsAt) - Date.parse(grant.createdAt);
    expect(life).to.be.within(12 * 3_600_000 - 1_000, 12 * 3_600_000);
    const audit = await tenant.get('/v1/audit?entity=oauthGrant').expect(200);
    expect(JSON.stringify(audit.body)).to.include(provider.issuer).and.include('oidc:ann');
  });

  // spec/gateway.md R442
  it('leaves out what the user took away before', async () => {
    const { access_token: token } = await world.tokensOf(
      await world.signIn('ann', { 'scope.mcp:write': 'no' }),
    );
    expect(decodeJwt(token)['scope']).to.equal('mcp:read');
  });

  // spec/gateway.md R445
  it('lets nobody in without a tenant and a role, and writes nothing but that', async () => {
    const { instance, provider, tenant, clock, signIn } = world;
    const suspended = await instance.tenant();
    await suspendTenant(instance.platform.database.platform, suspended.id, clock.now());
    const role = { durabill_roles: ['ADMIN'] };
    const ours = { durabill_tenant: tenant.id };
    const theirs = { durabill_tenant: suspended.id };
    // As [who, his claims, what he is told, in whose audit it is].
    const people: readonly (readonly [string, object, string, TestTenant | undefined])[] = [
      ['nobody', {}, 'for which tenant', undefined],
      ['lost', { ...role, durabill_tenant: 'elsewhere' }, 'does not exist', undefined],
      ['odd', { ...role, durabill_tenant: [tenant.id] }, 'for which tenant', undefined],
      ['guest', ours, 'no role in', tenant],
      ['root', { ...ours, durabill_roles: ['TENANTADMIN', 'admin'] }, 'no role in', tenant],
      ['late', { ...role, ...theirs }, 'is suspended', suspended],
    ];
    const before = await world.countRows('oauthGrant');
    for (const [login, claims, text, audited] of people) {
      provider.people.set(login, { ...claims });
      const { answer } = await signIn(login);
      expectNotSignedIn(answer, 403, text);
      const event = await world.lastRefusal(audited);
      expect(event, login).to.include({ actor: `oidc:${login}`, action: 'refuse' });
    }
    expect(await world.countRows('oauthGrant')).to.equal(before);
  });

  // spec/gateway.md R448
  it('stores nothing of who only begins, and logs no code, state or token', async () => {
    const tables = ['oauthGrant', 'oauthCode', 'oauthDecision', 'audit'];
    const rows = () => Promise.all(tables.map((table) => world.countRows(table)));
    const before = await rows();
    for (let at = 0; at < 20; at += 1) expect((await world.leave()).left.status).to.equal(303);
    expect(await rows()).to.deep.equal(before);
    const { back, answer } = await world.signIn();
    expect(answer.status).to.equal(303);
    const log = lines.join('\n');
    expect(log.length).to.be.greaterThan(1_000);
    for (const name of ['code', 'state']) {
      const secret = back.searchParams.get(name) ?? '';
      expect(secret).to.have.length.greaterThan(40);
      expect(log).to.not.include(secret);
    }
    expect(log).to.not.match(/eyJ[\w-]{10,}\.eyJ/);
    expect(log).to.not.include(world.provider.settings.clientSecret);
  });

  // spec/gateway.md R447
  it('ends at once when it is revoked, and after its greatest life', async () => {
    const { steps, clientId, tenant, clock, signIn, tokensOf } = world;
    const statusOf = async (token: string): Promise<number> => {
      const headers = { Authorization: `Bearer ${token}` };
      const path = '/api/v1/external/currencies?size=1';
      return (await sendRaw(world.instance.url, { method: 'GET', path, headers })).status;
    };
    const refresh = async (token: string) => {
      const grantType = { grant_type: 'refresh_token', client_id: clientId };
      const answer = await steps.token({ ...grantType, refresh_token: token });
      const { refresh_token: next = '' } = JSON.parse(answer.text) as { refresh_token?: string };
      return { status: answer.status, next };
    };
    const kept = await tokensOf(await signIn());
    const ended = await tokensOf(await signIn());
    expect(await statusOf(ended.access_token)).to.equal(200);
    await tenant.delete(`/v1/oauth/grants/${String((await latestGrant()).id)}`).expect(204);
    expect(await statusOf(ended.access_token)).to.equal(401);
    expect((await refresh(ended.refresh_token)).status).to.equal(400);
    clock.advance(12 * 3_600 - 20);
    const late = await refresh(kept.refresh_token);
    expect(late.status, 'some seconds before its end').to.equal(200);
    clock.advance(20);
    expect((await refresh(late.next)).status).to.equal(400);
  });
});
