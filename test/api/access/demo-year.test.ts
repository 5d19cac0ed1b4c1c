import { expect } from 'chai';
import { createAccount } from '../../support/billing/usage.js';
import { useInstance } from '../../support/servers/use-instance.js';

/** Who may let the console fill a tenant; that it does, test/browser/console-first-run.test.ts shows. */
describe('/console/demo-year', () => {
  const offering = useInstance({ yearEvents: 10 });
  const other = useInstance();
  const ask = async (instance: typeof other, token: string | undefined, method = 'GET') => {
    const response = await fetch(`${instance.url}/console/demo-year`, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: (await response.json()) as { status?: string } };
  };

  // spec/beyond.md R433
  it('is offered to who has the role ADMIN, of a tenant that nobody has used', async () => {
    const { id, token } = await offering.tenant();
    expect(await ask(offering, token)).to.deep.equal({ status: 200, body: { status: 'offered' } });
    const operator = await offering.token(id, ['OPERATOR']);
    expect((await ask(offering, operator)).body).to.deep.equal({ status: 'none' });
    expect((await ask(offering, operator, 'POST')).status).to.equal(403);
    expect((await ask(offering, undefined)).status).to.equal(401);
    expect((await ask(offering, undefined, 'POST')).status).to.equal(401);
  });

  it('is not offered where there is something', async () => {
    const tenant = await offering.tenant();
    await createAccount(tenant, 'acme');
    expect((await ask(offering, tenant.token)).body).to.deep.equal({ status: 'none' });
    expect((await ask(offering, tenant.token, 'POST')).status).to.equal(409);
  });

  const webhook = {
    url: 'http://127.0.0.1:9/hook',
    events: ['alert.triggered'],
    secret: 's'.repeat(24),
  };
  const alert = { name: 'Spend', measure: 'spend', period: 'Monthly', thresholds: [1] };
  const workflow = {
    definition: {
      document: { dsl: '1.0.3', namespace: 'examples', name: 'wave', version: '1.0.0' },
      do: [{ say: { set: { answer: 1 } } }],
    },
  };
  for (const [what, path, body] of [
    ['a webhook', '/v1/webhooks', webhook],
    ['an alert', '/v1/alerts', alert],
    ['a workflow', '/v1/workflows', workflow],
  ] as const) {
    it(`is not offered where ${what} would tell others of what is made`, async () => {
      const tenant = await offering.tenant();
      await tenant.post(path, body).expect(201);
      expect((await ask(offering, tenant.token)).body).to.deep.equal({ status: 'none' });
      expect((await ask(offering, tenant.token, 'POST')).status).to.equal(409);
    });
  }

  it('is not there on an instance that is no personal machine', async () => {
    const { token } = await other.tenant();
    expect((await ask(other, token)).body).to.deep.equal({ status: 'none' });
    expect((await ask(other, token, 'POST')).status).to.equal(404);
  });
});
