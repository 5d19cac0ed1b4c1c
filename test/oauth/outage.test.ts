import { expect } from 'chai';
import { useInstance } from '../support/servers/use-instance.js';
import { cableToDatabase } from '../support/servers/cable.js';
import {
  authorization,
  cookieOf,
  oauthSteps,
  redirected,
  type OauthSteps,
} from '../support/http/oauth.js';
import { sendRaw } from '../support/http/raw.js';

describe('OAuth: without the database', () => {
  let steps: OauthSteps;
  const cable = cableToDatabase();
  const instance = useInstance({ route: cable.route });
  before(async () => {
    steps = await oauthSteps(instance);
  });

  it('every door says "not now", and opens again where it was', async () => {
    const tenant = await instance.tenant();
    const clientId = await steps.client();
    const { form } = await steps.code(clientId, tenant.token);
    const { access_token: token } = await steps.tokens(clientId, tenant.token);
    const asked = await steps.authorize(authorization(clientId));
    const flowId = redirected(asked)['flow_id'] ?? '';
    await cable.cut();

    const issued = await steps.token(form);
    expect(issued.status, issued.text).to.equal(503);
    expect(issued.headers['retry-after']).to.match(/^\d+$/);
    expect(JSON.parse(issued.text)).to.include({ error: 'server_error' });
    const page = await steps.showConsent(flowId, cookieOf(asked));
    expect([page.status, page.type]).to.deep.equal([503, 'text/html; charset=utf-8']);
    expect(page.text).to.include('Try again');
    const authorized = await steps.authorize(authorization(clientId));
    expect([authorized.status, authorized.headers.location]).to.deep.equal([503, undefined]);
    const listing = () =>
      sendRaw(instance.url, {
        method: 'POST',
        path: '/mcp',
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      });
    // Whether the token was revoked cannot be known.
    expect((await listing()).status).to.equal(503);

    await cable.mend();
    expect((await listing()).status).to.equal(200);
    expect((await steps.token(form)).status).to.equal(200);
    expect((await steps.showConsent(flowId, cookieOf(asked))).status).to.equal(200);
  }).timeout(120_000);
});
