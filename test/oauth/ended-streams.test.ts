import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { createAccessKey, accessKeyId, revokeAccessKey } from '../../src/access/access-keys.js';
import { suspendTenant } from '../../src/access/tenants.js';
import { oauthSteps, type OauthSteps } from '../support/http/oauth.js';
import type { TestTenant } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';

/** A stream of changes, which is what stays open longest of all that a credential opens. */
describe('streams whose credential was taken back', function () {
  this.timeout(120_000);
  const instance = useInstance();
  let steps: OauthSteps;
  let clientId: string;
  before(async () => {
    steps = await oauthSteps(instance);
    clientId = await steps.client();
  });

  const db = () => instance.platform.database.platform;

  async function open(bearer: string) {
    const response = await fetch(`${instance.url}/v1/changes?seconds=60`, {
      headers: { Authorization: `Bearer ${bearer}` },
    });
    expect(response.status).to.equal(200);
    let isEnded = false;
    const ended = response.text().then(() => {
      isEnded = true;
    });
    return { ended, hasEnded: () => isEnded };
  }

  const keyOf = ({ id: tenantId }: TestTenant): Promise<string> =>
    createAccessKey(db(), { tenantId, orgId: 'org', roles: ['ADMIN'], name: null });
  const sessionOf = async (tenant: TestTenant): Promise<string> =>
    (await steps.tokens(clientId, await keyOf(tenant))).access_token;
  const grantOf = async (tenant: TestTenant) =>
    (await tenant.get('/v1/oauth/grants').expect(200)).body.data[0];

  /** As [what is taken back, the bearer value, how it is taken back]. */
  const ends: readonly (readonly [
    string,
    (tenant: TestTenant) => Promise<string>,
    (tenant: TestTenant, bearer: string) => Promise<unknown>,
  ])[] = [
    [
      'a session that was ended',
      sessionOf,
      async (tenant) =>
        tenant.delete(`/v1/oauth/grants/${String((await grantOf(tenant)).id)}`).expect(204),
    ],
    [
      'the key that a session was begun with',
      sessionOf,
      async (tenant) => revokeAccessKey(db(), (await grantOf(tenant)).accessKeyId),
    ],
    ['a key', keyOf, (_tenant, key) => revokeAccessKey(db(), accessKeyId(key))],
    [
      'a token',
      ({ token }) => Promise.resolve(token),
      (tenant, token) => tenant.post(`/v1/tokens/${decodeJwt(token).jti ?? ''}/revoke`).expect(200),
    ],
    [
      'a tenant that was suspended',
      ({ token }) => Promise.resolve(token),
      ({ id }) => suspendTenant(db(), id, new Date()),
    ],
  ];

  // spec/beyond.md R421
  it('end within ten seconds, found with one statement for all, and no others', async () => {
    const untouched = await instance.tenant();
    const others = await Promise.all(Array.from({ length: 50 }, () => open(untouched.token)));
    const streams = await Promise.all(
      ends.map(async ([name, make, takeBack]) => {
        const tenant = await instance.tenant();
        const bearer = await make(tenant);
        return { name, ...(await open(bearer)), takeBack: () => takeBack(tenant, bearer) };
      }),
    );
    let statements = 0;
    const hear = ({ sql }: { readonly sql: string }): void => {
      if (sql.includes('jsonb_to_recordset')) statements += 1;
    };
    db().on('query', hear);
    const begun = performance.now();
    await Promise.all(streams.map(({ takeBack }) => takeBack()));
    await Promise.all(
      streams.map(async ({ name, ended }) => {
        await ended;
        expect(performance.now() - begun, name).to.be.lessThan(10_000);
      }),
    );
    db().off('query', hear);
    expect(statements).to.be.within(1, 3);
    expect(others.filter(({ hasEnded }) => hasEnded())).to.deep.equal([]);
    await suspendTenant(db(), untouched.id, new Date());
    await Promise.all(others.map(({ ended }) => ended));
  });
});
