import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccessKey } from '../../../src/access/access-keys.js';
import { consoleClientId, ensureConsoleClient } from '../../../src/access/oauth/console-client.js';
import { oauthSteps } from '../../support/http/oauth.js';
import { sendRaw } from '../../support/http/raw.js';
import type { TestTenant } from '../../support/servers/instance.js';
import { useInstance } from '../../support/servers/use-instance.js';

const path = '/v1/access-keys';
const reading = { name: 'Reads', roles: ['READER'] };

interface Made {
  readonly id: string;
  readonly key: string;
  readonly orgId: string | null;
  readonly expiresAt: string | null;
}

describe('access keys of a tenant', function () {
  this.timeout(120_000);
  const instance = useInstance();
  let tenant: TestTenant;
  beforeEach(async () => {
    tenant = await instance.tenant();
  });

  const db = () => instance.platform.database.platform;
  /** Sends as whoever has this bearer value. */
  const as = async (
    bearer: string,
    method: 'GET' | 'POST' | 'DELETE',
    to: string,
    body?: object,
  ) => {
    const { status, text } = await sendRaw(instance.url, {
      method,
      path: to,
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status, text, body: (text === '' ? {} : JSON.parse(text)) as Made };
  };
  const make = async (body: object): Promise<Made> =>
    (await tenant.post(path, body).expect(201)).body;
  const list = async (): Promise<Record<string, unknown>[]> =>
    (await tenant.get(path).expect(200)).body.data;

  it('end at an instant that exists', async () => {
    const never = { ...reading, expiresAt: '9999-12-31T23:59:60Z' };
    const { body } = await tenant.post(path, never).expect(400);
    expect(body.error.details).to.include({ field: 'expiresAt' });
  });

  // spec/beyond.md R471
  it('are made with roles, organization and end, shown once, and listed without their secret', async () => {
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const made = await make({ ...reading, orgId: 'org', expiresAt });
    expect(made.key)
      .to.match(/^dbk_[0-9a-f]{16}_[\w-]{43}$/)
      .and.include(made.id);
    const { body: page, text } = await tenant.get(path).expect(200);
    expect(page.pagination.total).to.equal(1);
    const known = { id: made.id, ...reading, orgId: 'org', expiresAt, madeBy: 'tester' };
    expect(page.data[0]).to.deep.include({
      ...known,
      status: 'valid',
      revokedAt: null,
      usedAt: null,
    });
    expect(text).to.not.include(made.key.slice(-43));
    expect((await as(made.key, 'GET', '/v1/webhooks')).status).to.equal(200);
    expect((await as(made.key, 'POST', '/v1/webhooks/none/test')).status).to.equal(403);
  });

  // spec/beyond.md R471
  it('are revoked at once and for good, and only by their own tenant', async () => {
    const { id, key } = await make(reading);
    const other = await instance.tenant();
    await other.delete(`${path}/${id}`).expect(404);
    expect((await other.get(path).expect(200)).body.data).to.deep.equal([]);
    for (const none of [`${id}0`, 'nonsense', '%00'])
      await tenant.delete(`${path}/${none}`).expect(404);
    expect((await as(key, 'GET', '/v1/webhooks')).status).to.equal(200);
    await tenant.delete(`${path}/${id}`).expect(204);
    const [revoked] = await list();
    expect(revoked).to.include({ id, status: 'revoked' });
    // Again, which changes nothing.
    await tenant.delete(`${path}/${id}`).expect(204);
    expect(await list()).to.deep.equal([revoked]);
    const until = performance.now() + 10_000;
    let { status } = await as(key, 'GET', '/v1/webhooks');
    while (status === 200 && performance.now() < until) {
      await wait(200);
      ({ status } = await as(key, 'GET', '/v1/webhooks'));
    }
    expect(status).to.equal(401);
  });

  // spec/beyond.md R5, R471
  it('are in the audit, with who made and revoked them, and without their secret', async () => {
    const { id, key } = await make(reading);
    await tenant.delete(`${path}/${id}`).expect(204);
    await tenant.delete(`${path}/${id}`).expect(204);
    const { body, text } = await tenant.get('/v1/audit?entity=accessKey').expect(200);
    const [revoked, created, ...more] = body.data;
    expect(more).to.deep.equal([]);
    expect(revoked).to.include({ action: 'revoke', entityKey: id, actor: 'tester' });
    expect(created).to.include({ action: 'create', entityKey: id, actor: 'tester' });
    expect(created.after).to.deep.include({ ...reading, orgId: 'org' });
    expect(Object.keys(created.after)).to.have.members(['name', 'roles', 'orgId', 'expiresAt']);
    expect(created.requestId).to.be.a('string');
    expect(text).to.not.include(key.slice(-43));
  });

  // spec/beyond.md R472
  it('are made and revoked by ADMIN alone', async () => {
    const { id } = await make(reading);
    for (const roles of [['READER'], ['OPERATOR'], ['READER', 'OPERATOR'], ['TENANTADMIN'], []]) {
      const token = await instance.token(tenant.id, roles);
      expect((await as(token, 'POST', path, reading)).status, String(roles)).to.equal(403);
      expect((await as(token, 'DELETE', `${path}/${id}`)).status, String(roles)).to.equal(403);
    }
    const [key] = await list();
    expect(key).to.include({ id, status: 'valid' });
  });

  // spec/beyond.md R472
  it('end no later than the key that they are made with', async () => {
    const endsAt = new Date(Date.now() + 600_000);
    const request = { tenantId: tenant.id, orgId: null, roles: ['ADMIN'], name: null };
    const short = await createAccessKey(db(), { ...request, expiresAt: endsAt });
    const { status, body } = await as(short, 'POST', path, reading);
    expect({ status, expiresAt: body.expiresAt }).to.deep.equal({
      status: 201,
      expiresAt: endsAt.toISOString(),
    });
    const later = { ...reading, expiresAt: new Date(endsAt.getTime() + 1).toISOString() };
    expect((await as(short, 'POST', path, later)).status).to.equal(403);
    const [made] = await list();
    expect(made).to.include({ madeBy: `key:${short.split('_')[1] ?? ''}` });
    const past = { ...reading, expiresAt: new Date(Date.now() - 1).toISOString() };
    await tenant.post(path, past).expect(400);
  });

  // spec/beyond.md R472
  it('are made by no key that has ended', async () => {
    const request = { tenantId: tenant.id, orgId: null, roles: ['ADMIN'], name: null };
    const over = await createAccessKey(db(), { ...request, expiresAt: new Date(Date.now() - 1) });
    expect((await as(over, 'POST', path, reading)).status).to.equal(401);
    expect(await list()).to.have.length(1);
  });

  // spec/beyond.md R472
  it('are of the organization of what they are made with', async () => {
    // The tenant's token is of the organization "org".
    expect((await make(reading)).orgId).to.equal('org');
    await tenant.post(path, { ...reading, orgId: 'another' }).expect(403);
    const ofAny = await instance.token(tenant.id, ['ADMIN'], null);
    expect((await as(ofAny, 'POST', path, { ...reading, orgId: 'any' })).body.orgId).to.equal(
      'any',
    );
    expect((await as(ofAny, 'POST', path, reading)).body.orgId).to.equal(null);
  });

  // spec/beyond.md R472
  it('are made by no OAuth client, but for the console', async () => {
    const steps = await oauthSteps(instance);
    const clientId = await steps.client();
    const expiresAt = new Date(Date.now() + 600_000);
    const user = await createAccessKey(db(), {
      tenantId: tenant.id,
      orgId: null,
      roles: ['ADMIN'],
      name: null,
      expiresAt,
    });
    const { access_token: ofClient } = await steps.tokens(clientId, user);
    const refused = await as(ofClient, 'POST', path, reading);
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('OAuth client');
    await ensureConsoleClient(db(), [instance.platform.config.publicUrl], new Date());
    const redirect = `${instance.platform.config.publicUrl}/console/signed-in`;
    const console = { redirect_uri: redirect };
    const { access_token: ofConsole } = await steps.tokens(consoleClientId, user, console);
    // It ends with what somebody signed in with, and not with the token of the session.
    expect((await as(ofConsole, 'POST', path, reading)).body.expiresAt).to.equal(
      expiresAt.toISOString(),
    );
    const looking = { ...console, scope: 'mcp:read' };
    const { access_token: toLook } = await steps.tokens(consoleClientId, user, looking);
    expect((await as(toLook, 'POST', path, reading)).status).to.equal(403);
    expect((await as(toLook, 'GET', path)).status).to.equal(200);
  });

  // spec/beyond.md R471
  it('are at most 100 that are valid, and 900 that are over', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    const rows = (count: number, more: (n: number) => object) =>
      Array.from({ length: count }, (_each, n) => ({
        id: n.toString(16).padStart(16, '0'),
        tenantId: tenant.id,
        roles: ['READER'],
        secretHash: Buffer.alloc(32),
        createdAt: at(n),
        ...more(n),
      }));
    await db()('accessKey').insert(
      rows(902, (n) => (n % 2 ? { revokedAt: at(n) } : { expiresAt: at(n) })),
    );
    await db()('accessKey').insert(
      rows(99, (n) => ({ id: `ff${n.toString(16).padStart(14, '0')}` })),
    );
    // Of two at once one is the hundredth.
    const both = await Promise.all([tenant.post(path, reading), tenant.post(path, reading)]);
    expect(both.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
    const { body } = await tenant.get(`${path}?limit=1000`).expect(200);
    expect(body.pagination.total).to.equal(1000);
    const { id } = both.find(({ status }) => status === 201)?.body as Made;
    await tenant.delete(`${path}/${id}`).expect(204);
    await make(reading);
  });

  for (const [what, changes] of [
    ['no role', { roles: [] }],
    ['a role that may do nothing', { roles: ['TENANTADMIN'] }],
    ['a role that nothing knows', { roles: ['admin'] }],
    ['no name', { name: ' ' }],
    ['an instant that is none', { expiresAt: '2027-02-30T00:00:00Z' }],
    ['what only the server sets', { secretHash: 'x' }],
  ] as const) {
    it(`are not made with ${what}`, async () => {
      await tenant.post(path, { ...reading, ...changes }).expect(400);
    });
  }
});
