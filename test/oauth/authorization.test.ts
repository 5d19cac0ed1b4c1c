import { expect } from 'chai';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import {
  authorization,
  cookieOf,
  cookiesOf,
  encode,
  expectFault,
  oauthSteps,
  redirected,
  redirectUri,
  type OauthSteps,
  type Parameters,
} from '../support/http/oauth.js';

const issuer = 'http://localhost';

describe('OAuth: authorization', () => {
  let instance: TestInstance;
  let steps: OauthSteps;
  let clientId: string;
  before(async () => {
    instance = await openTestInstance();
    steps = await oauthSteps(instance);
    clientId = await steps.client();
  });
  after(() => instance.close());

  // spec/gateway.md R17, R18, R21
  it('leads to the consent screen and binds the flow to the browser', async () => {
    const answer = await steps.authorize(authorization(clientId));
    expect(answer.status).to.equal(302);
    expect(answer.headers.location).to.match(/^\/oauth\/consent\?flow_id=[0-9a-f-]{36}$/);
    const [cookie = '', sealed = '', ...more] = answer.headers['set-cookie'] ?? [];
    expect(more).to.deep.equal([]);
    const attributes = '; Path=/; Max-Age=900; HttpOnly; SameSite=Lax';
    expect(cookie).to.match(new RegExp(`^__gateway_flow_secret=[A-Za-z0-9_-]{43}${attributes}$`));
    expect(sealed).to.match(new RegExp(`^__gateway_flow_1=[A-Za-z0-9_-]{100,3900}${attributes}$`));
    const again = await steps.authorize(authorization(clientId));
    expect(cookieOf(again)).to.not.equal(cookieOf(answer));
    const beside = await steps.authorize(authorization(clientId), cookieOf(answer));
    expect(cookieOf(beside), 'of a second flow in one browser').to.equal(cookieOf(answer));
  });

  const unredirected: readonly (readonly [what: string, changes: Parameters, code: string])[] = [
    ['an unknown client', { client_id: '01939c6e-7a00-7000-8000-00000000dead' }, 'invalid_client'],
    ['a client id that is none', { client_id: 'me' }, 'invalid_client'],
    ['no client', { client_id: undefined }, 'invalid_request'],
    ['no redirect URI', { redirect_uri: undefined }, 'invalid_request'],
    ['another redirect URI', { redirect_uri: 'https://evil.example/' }, 'invalid_request'],
    ['another path', { redirect_uri: 'http://localhost:33418/other' }, 'invalid_request'],
    [
      'another loopback host',
      { redirect_uri: 'http://127.0.0.1:33418/callback' },
      'invalid_request',
    ],
    ['a query more', { redirect_uri: `${redirectUri}?x=1` }, 'invalid_request'],
    ['a line break more', { redirect_uri: `${redirectUri}\r\n` }, 'invalid_request'],
    [
      'a port that there is none of',
      { redirect_uri: 'http://localhost:99999/callback' },
      'invalid_request',
    ],
    ['two redirect URIs', { redirect_uri: [redirectUri, redirectUri] }, 'invalid_request'],
  ];
  for (const [what, changes, code] of unredirected) {
    // spec/gateway.md R19
    it(`answers 400 to ${what} and leads nowhere`, async () => {
      const answer = await steps.authorize(authorization(clientId, changes));
      expectFault(answer, 400, code);
      expect(answer.headers).to.not.have.any.keys('location', 'set-cookie');
    });
  }

  it('takes a loopback redirect URI on any port, and an exact one elsewhere', async () => {
    const local = await steps.authorize(
      authorization(clientId, { redirect_uri: 'http://localhost:50123/callback' }),
    );
    expect(local.status).to.equal(302);
    const uri = 'https://app.example/callback';
    const remote = await steps.client({ redirect_uris: [uri] });
    const exact = await steps.authorize(authorization(remote, { redirect_uri: uri }));
    expect(exact.headers.location).to.match(/^\/oauth\/consent/);
    const port = 'https://app.example:8443/callback';
    expectFault(
      await steps.authorize(authorization(remote, { redirect_uri: port })),
      400,
      'invalid_request',
    );
  });

  const faults: readonly (readonly [what: string, changes: Parameters, code: string])[] = [
    ['no response type', { response_type: undefined }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'A'.repeat(42) }, 'invalid_request'],
    ['a long challenge', { code_challenge: 'A'.repeat(44) }, 'invalid_request'],
    ['a challenge of base64', { code_challenge: `${'A'.repeat(42)}+` }, 'invalid_request'],
    ['no method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['the method in small letters', { code_challenge_method: 's256' }, 'invalid_request'],
    ['an unknown scope', { scope: 'mcp:read openid' }, 'invalid_scope'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['a parameter twice', { scope: ['mcp:read', 'mcp:write'] }, 'invalid_request'],
  ];
  for (const [what, changes, code] of faults) {
    // spec/gateway.md R17, R20
    it(`tells the client of ${what} with ${code}, state and iss`, async () => {
      const answer = await steps.authorize(authorization(clientId, changes));
      expect(answer.status, answer.text).to.equal(302);
      expect(String(answer.headers.location).startsWith(`${redirectUri}?`)).to.equal(true);
      const { error_description: description, ...rest } = redirected(answer);
      expect(rest).to.deep.equal({ error: code, state: 'xyz', iss: issuer });
      expect(description).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      expect(answer.headers).to.not.have.property('set-cookie');
    });
  }

  it('stores nothing until a user decides, whoever asks and however often', async () => {
    const count = async () => {
      const { rows } = await instance.platform.database.platform.raw<{ rows: object[] }>(
        `select (select count(*) from oauth_decision) as decisions,
           (select count(*) from oauth_grant) as grants`,
      );
      return rows[0];
    };
    const before = await count();
    for (let n = 0; n < 20; n += 1) {
      const answer = await steps.authorize(authorization(clientId, { state: 'x'.repeat(1_500) }));
      expect(answer.status).to.equal(302);
      expect(answer.headers.location).to.match(/^\/oauth\/consent/);
    }
    expect(await count()).to.deep.equal(before);
    const long = await steps.authorize(authorization(clientId, { state: 'x'.repeat(2_001) }));
    expect(redirected(long)).to.include({ error: 'invalid_request' });
    const wide = await steps.authorize(authorization(clientId, { state: '€'.repeat(1_000) }));
    expect(redirected(wide)).to.include({ error: 'invalid_request' });
  });

  it('keeps four flows of one browser apart; a fifth takes the place of one', async () => {
    const names = new Set<string>();
    let cookie = '';
    for (let n = 0; n < 4; n += 1) {
      const answer = await steps.authorize(authorization(clientId), cookie);
      const [secret = '', sealed = ''] = cookiesOf(answer);
      names.add(sealed.split('=')[0] ?? '');
      cookie = cookie === '' ? `${secret}; ${sealed}` : `${cookie}; ${sealed}`;
    }
    expect(names.size).to.equal(4);
    const fifth = await steps.authorize(authorization(clientId), cookie);
    expect(names).to.include(cookiesOf(fifth)[1]?.split('=')[0]);
  });

  // spec/gateway.md R21
  it('sends no state where none was given', async () => {
    const request = authorization(clientId, { state: undefined, response_type: 'token' });
    expect(redirected(await steps.authorize(request))).to.have.all.keys(
      'error',
      'error_description',
      'iss',
    );
  });

  it('gives no scope that the client did not register', async () => {
    const reader = await steps.client({ scope: 'mcp:read' });
    const answer = await steps.authorize(authorization(reader, { scope: 'mcp:write' }));
    expect(redirected(answer)).to.include({ error: 'invalid_scope' });
  });

  it('takes the API and its MCP server as resource, with a slash or without', async () => {
    for (const resource of ['', '/', '/mcp', '/mcp/'].map((path) => `${issuer}${path}`)) {
      const answer = await steps.authorize(authorization(clientId, { resource }));
      expect(answer.headers.location, resource).to.match(/^\/oauth\/consent/);
    }
  });

  it('redirects nobody from a public instance for a client that no user has allowed', async () => {
    const shown = await openTestInstance({ publicUrl: 'https://billing.example' });
    try {
      const their = await oauthSteps(shown);
      const uri = 'https://evil.example/callback';
      const stranger = await their.client({ redirect_uris: [uri] });
      const ask = (id: string, to: string) =>
        their.authorize(authorization(id, { redirect_uri: to, response_type: 'token' }));
      expectFault(await ask(stranger, uri), 400, 'unsupported_response_type');
      const request = encode(
        authorization(stranger, { redirect_uri: uri, response_type: 'token' }),
      );
      const page = await fetch(`${shown.url}/api/oauth/per-user/authorize?${request}`, {
        redirect: 'manual',
        headers: { Accept: 'text/html,*/*;q=0.8' },
      });
      expect(page.status).to.equal(400);
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(await page.text())
        .to.include('evil.example')
        .and.not.include('href="https');
      expect(page.headers.get('location')).to.equal(null);
      // What does not leave the machine, and who was allowed something, is told.
      expect((await ask(await their.client(), redirectUri)).status).to.equal(302);
      const tenant = await shown.tenant();
      await their.code(stranger, tenant.token, { redirect_uri: uri });
      const told = await ask(stranger, uri);
      expect(redirected(told)).to.include({ error: 'unsupported_response_type' });
    } finally {
      await shown.close();
    }
  });
});
