import { expect } from 'chai';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import {
  authorization,
  cookieOf,
  cookiesOf,
  formOf,
  movedClock,
  oauthSteps,
  pkce,
  redirected,
  redirectUri,
  type OauthSteps,
  type Parameters,
} from '../support/http/oauth.js';
import { sendRaw } from '../support/http/raw.js';
import { asOwner } from '../support/servers/rows.js';

const issuer = 'http://localhost';

describe('OAuth: consent', () => {
  let instance: TestInstance;
  let steps: OauthSteps;
  let tenant: TestTenant;
  let clientId: string;
  const clock = movedClock();
  before(async () => {
    instance = await openTestInstance({ now: clock.now });
    steps = await oauthSteps(instance);
    tenant = await instance.tenant();
    clientId = await steps.client();
  });
  after(() => instance.close());

  /** A flow that waits for its user. */
  const pending = async (changes: Parameters = {}) => {
    const answer = await steps.authorize(authorization(clientId, changes));
    return { flowId: redirected(answer)['flow_id'] ?? '', cookie: cookieOf(answer) };
  };

  it('shows the client, where the user goes, and what it may do', async () => {
    const { flowId, cookie } = await pending({ scope: 'mcp:read' });
    const answer = await steps.showConsent(flowId, cookie);
    expect(answer.status).to.equal(200);
    expect(answer.type).to.equal('text/html; charset=utf-8');
    for (const text of ['Billing assistant', 'localhost:33418', 'Read billing data']) {
      expect(answer.text).to.include(text);
    }
    expect(answer.text).to.not.include('Change billing data');
    expect(answer.headers).to.include({
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'");
    expect(policy).to.not.match(/form-action|unsafe|https?:/);
  });

  it('shows what a client calls itself as text', async () => {
    const rude = await steps.client({ client_name: '<script>alert(1)</script>' });
    const asked = await steps.authorize(authorization(rude));
    const flowId = redirected(asked)['flow_id'] ?? '';
    const { text } = await steps.showConsent(flowId, cookieOf(asked));
    expect(text).to.include('&lt;script&gt;').and.not.include('<script');
  });

  // spec/gateway.md R22
  it('is 403 in another browser, before and after a decision', async () => {
    const { flowId, cookie } = await pending();
    const other = (await pending()).cookie;
    for (const foreign of [undefined, other, '__gateway_flow_secret=', `x${cookie}`]) {
      expect((await steps.showConsent(flowId, foreign)).status).to.equal(403);
    }
    const { text } = await steps.showConsent(flowId, cookie);
    const decision = { ...formOf(text), decision: 'allow', credential: tenant.token };
    expect((await steps.decide(decision, other)).status).to.equal(403);
    expect((await steps.decide(decision, cookie)).status).to.equal(303);
    expect((await steps.showConsent(flowId, other)).status).to.equal(403);
  });

  // spec/gateway.md R22
  it('is 400 for a flow that is not known or has expired', async () => {
    const { flowId, cookie } = await pending();
    for (const unknown of ['', 'abc', '01939c6e-7a00-4000-8000-00000000dead', '%00']) {
      expect((await steps.showConsent(unknown, cookie)).status, unknown).to.equal(400);
    }
    const { text } = await steps.showConsent(flowId, cookie);
    clock.advance(15 * 60 - 5);
    expect((await steps.showConsent(flowId, cookie)).status).to.equal(200);
    clock.advance(5);
    expect((await steps.showConsent(flowId, cookie)).status).to.equal(400);
    tenant = await instance.tenant();
    const decision = { ...formOf(text), decision: 'allow', credential: tenant.token };
    expect((await steps.decide(decision, cookie)).status).to.equal(400);
  });

  it('is 409 once it is decided; of eight decisions at once one counts', async () => {
    const { flowId, cookie } = await pending();
    const { text } = await steps.showConsent(flowId, cookie);
    const decision = { ...formOf(text), decision: 'allow', credential: tenant.token };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => steps.decide(decision, cookie)),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([303, ...Array(7).fill(409)]);
    expect((await steps.showConsent(flowId, cookie)).status).to.equal(409);
    const denial = { ...decision, decision: 'deny' };
    expect((await steps.decide(denial, cookie)).status).to.equal(409);
  });

  it('sends a denial back, which needs no sign-in', async () => {
    const { flowId, cookie } = await pending();
    const { text } = await steps.showConsent(flowId, cookie);
    const answer = await steps.decide({ ...formOf(text), decision: 'deny' }, cookie);
    expect(answer.status).to.equal(303);
    const { error_description: description, ...rest } = redirected(answer);
    expect(rest).to.deep.equal({ error: 'access_denied', state: 'xyz', iss: issuer });
    expect(description).to.match(/\S/);
  });

  // spec/beyond.md R9
  it('grants what the user leaves of the scopes', async () => {
    const { verifier, challenge } = pkce();
    const { flowId, cookie } = await pending({ code_challenge: challenge });
    const { text } = await steps.showConsent(flowId, cookie);
    expect(text).to.include('name="scope.mcp:write" value="no"');
    expect(text).to.not.include('name="scope.mcp:read"');
    const decision = { ...formOf(text), decision: 'allow', credential: tenant.token };
    const answer = await steps.decide({ ...decision, 'scope.mcp:write': 'no' }, cookie);
    expect(answer.status).to.equal(303);
    const { code = '' } = redirected(answer);
    const token = await steps.token({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
    });
    expect(JSON.parse(token.text)).to.include({ scope: 'mcp:read' });
    const only = await pending({ scope: 'mcp:write' });
    expect((await steps.showConsent(only.flowId, only.cookie)).text).to.not.include('"radio"');
  });

  it('opens in another process, with the cookies that a browser keeps', async () => {
    const other = await openTestInstance({ now: clock.now, beside: instance });
    try {
      const get = (path: string, cookie: string) =>
        sendRaw(other.url, { method: 'GET', path, headers: { Cookie: cookie } });
      const asked = await steps.authorize(authorization(clientId));
      const path = String(asked.headers.location);
      const cookies = cookiesOf(asked);
      const shown = await get(path, cookies.join('; '));
      expect(shown.status, shown.text).to.equal(200);
      expect(shown.text).to.include('Billing assistant');
      const foreign = cookieOf(await steps.authorize(authorization(clientId)));
      expect((await get(path, `${foreign}; ${cookies[1] ?? ''}`)).status).to.equal(403);
      expect((await get(path, cookies[0] ?? '')).status).to.equal(403);
      const decision = { ...formOf(shown.text), decision: 'deny' };
      expect((await steps.decide(decision, cookies[0])).status).to.equal(303);
      expect((await get(path, cookies.join('; '))).status).to.equal(409);
    } finally {
      await other.close();
    }
  });

  it('writes failed sign-ins down, some of them', async () => {
    const { flowId, cookie } = await pending();
    const { text } = await steps.showConsent(flowId, cookie);
    const decision = { ...formOf(text), decision: 'allow', credential: 'nonsense' };
    for (let n = 0; n < 30; n += 1) await steps.decide(decision, cookie);
    const { rows: events } = await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `select action, after ->> 'clientId' as client from audit where entity = 'sign_in'`,
      ),
    );
    expect(events.length).to.be.within(1, 20);
    expect(events[0]).to.deep.equal({ action: 'refuse', client: clientId });
  });

  it('refuses a form that it did not show', async () => {
    const { flowId, cookie } = await pending();
    const { text } = await steps.showConsent(flowId, cookie);
    const decision = { ...formOf(text), decision: 'allow', credential: tenant.token };
    for (const csrf of [undefined, 'x', formOf(text)['csrf']?.toLowerCase()]) {
      expect((await steps.decide({ ...decision, csrf }, cookie)).status).to.equal(403);
    }
    for (const change of [{ decision: 'maybe' }, { decision: undefined }, { flow_id: undefined }]) {
      expect((await steps.decide({ ...decision, ...change }, cookie)).status).to.equal(400);
    }
  });

  // spec/gateway.md R23
  it('asks again for a credential that is none, or that belongs to a client', async () => {
    const { flowId, cookie } = await pending();
    const { text } = await steps.showConsent(flowId, cookie);
    const { access_token: ofClient } = await steps.tokens(clientId, tenant.token);
    const unknownKey = `dbk_0123456789abcdef_${'x'.repeat(43)}`;
    for (const credential of [undefined, 'nonsense', unknownKey, ofClient]) {
      const decision = { ...formOf(text), decision: 'allow', credential };
      const answer = await steps.decide(decision, cookie);
      expect(answer.status).to.equal(401);
      expect(answer.text).to.include('role="alert"').and.not.include(unknownKey);
      expect(answer.headers).to.not.have.property('location');
    }
    const decision = { ...formOf(text), decision: 'allow', credential: tenant.token };
    expect((await steps.decide(decision, cookie)).status).to.equal(303);
  });
});
