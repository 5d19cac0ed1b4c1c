import { expect } from 'chai';
import { removeMcpClient } from '../../src/access/oauth/mcp-clients.js';
import { examples } from '../../src/schemas/openapi/examples.js';
import {
  expectFault,
  movedClock,
  oauthSteps,
  uuidForm,
  type OauthSteps,
} from '../support/http/oauth.js';
import { sendRaw } from '../support/http/raw.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance } from '../support/servers/use-instance.js';

describe('OAuth: registration', () => {
  const clock = movedClock();
  const instance = useInstance({ now: clock.now });
  let steps: OauthSteps;
  before(async () => {
    steps = await oauthSteps(instance);
  });

  // spec/gateway.md R11, R13
  it('answers 201 with what was registered, never kept by a cache', async () => {
    const answer = await steps.register();
    expect(answer.status, answer.text).to.equal(201);
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(answer.headers['access-control-allow-origin']).to.equal('*');
    const { client_id: id, client_id_issued_at: at, ...rest } = JSON.parse(answer.text);
    expect(id).to.match(uuidForm);
    expect(Math.abs(Date.now() / 1000 - at)).to.be.below(60);
    expect(rest).to.deep.equal({
      client_name: 'Billing assistant',
      redirect_uris: ['http://localhost:33418/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'mcp:read mcp:write',
    });
  });

  it('stands in the audit, under no tenant', async () => {
    const { client_id: id } = JSON.parse((await steps.register()).text) as { client_id: string };
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `select tenant_id, actor, entity, action, after, request_id is not null as "hasRequest"
         from audit where entity_key = $1`,
        [id],
      ),
    );
    expect(rows).to.deep.equal([
      {
        tenant_id: '*',
        actor: null,
        entity: 'oauth_client',
        action: 'create',
        after: { name: 'Billing assistant', redirectUri: 'http://localhost:33418/callback' },
        hasRequest: true,
      },
    ]);
  });

  const accepted: readonly [what: string, changes: object, answer: object][] = [
    ['the default grant type', { grant_types: undefined }, { grant_types: ['authorization_code'] }],
    [
      'an authentication method that it has not',
      { token_endpoint_auth_method: 'client_secret_basic' },
      { token_endpoint_auth_method: 'none' },
    ],
    ['unknown scopes, dropped', { scope: 'openid mcp:read' }, { scope: 'mcp:read' }],
    ['only unknown scopes', { scope: 'openid profile' }, { scope: undefined }],
    ['no name', { client_name: undefined }, { client_name: undefined }],
    [
      'a name that turns round, plain',
      { client_name: 'Pay\u202Elapy' },
      { client_name: 'Paylapy' },
    ],
    [
      'a name of several lines, in one',
      { client_name: ' Durabill\r\n\u2028Support\u0007 ' },
      { client_name: 'Durabill Support' },
    ],
    ['a name of nothing to see', { client_name: '\u200B\u3164' }, { client_name: undefined }],
    ['a long name, cut', { client_name: 'x'.repeat(200) }, { client_name: `${'x'.repeat(79)}…` }],
    [
      'unknown grant types, dropped',
      { grant_types: ['implicit', 'authorization_code'] },
      { grant_types: ['authorization_code'] },
    ],
    ['members that are not known', { software_id: 'x', contacts: ['a@b.c'] }, {}],
    ...[
      'https://app.example/callback?x=1',
      'http://127.0.0.1/callback',
      'http://[::1]:9/callback',
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'com.example.app:/oauth',
    ].map((uri): [string, object, object] => [
      uri,
      { redirect_uris: [uri] },
      { redirect_uris: [uri] },
    ]),
  ];
  for (const [what, changes, expected] of accepted) {
    // spec/gateway.md R13
    it(`accepts ${what}`, async () => {
      const answer = await steps.register(changes);
      expect(answer.status, answer.text).to.equal(201);
      const body = JSON.parse(answer.text) as Record<string, unknown>;
      for (const [name, value] of Object.entries(expected)) {
        expect(body[name], name).to.deep.equal(value);
      }
      expect(Object.values(body), 'members without a value').to.not.include(null);
    });
  }

  const uriFaults: readonly (readonly [what: string, uris: unknown])[] = [
    ['no redirect URIs', undefined],
    ['an empty list', []],
    ['a text for a list', 'https://app.example/'],
    ['http elsewhere', ['http://app.example/callback']],
    ['http on a host that only begins with localhost', ['http://localhost.evil.example/']],
    ['http with localhost as the user', ['http://localhost@evil.example/']],
    ['user information', ['https://user:secret@app.example/']],
    ['a fragment', ['https://app.example/#top']],
    ['an empty fragment', ['https://app.example/#']],
    ['javascript:', ['javascript:alert(1)']],
    ['data:', ['data:text/html,x']],
    ['file:', ['file:///etc/passwd']],
    ...[
      'ms-msdt:/x',
      'search-ms:query=x',
      'ssh://evil.example',
      'cursor://evil/callback',
      'app:/x',
    ].map((uri): [string, unknown] => [uri, [uri]]),
    ['a port that there is none of', ['http://127.0.0.1:99999/cb']],
    ['a relative URI', ['/callback']],
    ['a line break', ['https://app.example/\r\nX: y']],
    ['a backslash', ['https:\\\\app.example/']],
    ['one bad among good ones', ['https://app.example/', 'ftp://app.example/']],
  ];
  for (const [what, uris] of uriFaults) {
    // spec/gateway.md R14
    it(`refuses ${what} as invalid_redirect_uri`, async () => {
      const answer = await steps.register({ redirect_uris: uris });
      expectFault(answer, 400, 'invalid_redirect_uri');
    });
  }

  const metadataFaults: readonly (readonly [what: string, changes: object])[] = [
    ['grant types without a code', { grant_types: ['client_credentials'] }],
    ['response types without a code', { response_types: ['token'] }],
    ['a name that is no text', { client_name: 7 }],
    ['a name too long', { client_name: 'x'.repeat(201) }],
    ['a scope that is a list', { scope: ['mcp:read'] }],
  ];
  for (const [what, changes] of metadataFaults) {
    // spec/gateway.md R15, R16
    it(`refuses ${what} as invalid_client_metadata`, async () => {
      const answer = await steps.register(changes);
      expectFault(answer, 400, 'invalid_client_metadata');
    });
  }

  // spec/gateway.md R15
  it('refuses what is no JSON, and more than 64 KiB', async () => {
    const send = (body: string) =>
      sendRaw(instance.url, {
        method: 'POST',
        path: '/api/oauth/per-user/register',
        body,
        headers: { 'Content-Type': 'application/json' },
      });
    const broken = await send('{');
    expectFault(broken, 400, 'invalid_client_metadata');
    const large = await send(JSON.stringify({ ...examples.registration, x: 'y'.repeat(65_536) }));
    expectFault(large, 413, 'payload_too_large');
    expect(large.text).to.include('64 KiB');
  });

  it('may be asked by pages of any origin', async () => {
    const answer = await sendRaw(instance.url, {
      method: 'OPTIONS',
      path: '/api/oauth/per-user/register',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(answer.status).to.equal(204);
    expect(answer.headers['access-control-allow-origin']).to.equal('*');
    expect(answer.headers['access-control-allow-methods']).to.equal('POST');
    expect(answer.headers['access-control-allow-headers']).to.include('mcp-protocol-version');
  });

  it('takes 200 from one address in ten minutes, then 429 until they have passed', async () => {
    clock.advance(3_600);
    for (let count = 1; count <= 200; count += 1) {
      const answer = await steps.register();
      if (answer.status !== 201) throw new Error(`number ${count}: ${answer.text}`);
    }
    const answer = await steps.register();
    expectFault(answer, 429, 'rate_limited');
    expect(answer.headers['retry-after']).to.equal('600');
    clock.advance(601);
    expect((await steps.register()).status).to.equal(201);
  });

  it('forgets clients that nobody has used for three days', async () => {
    const count = () =>
      asOwner(instance.databaseUrl, async (client) => {
        const sql = 'select count(*)::int as count from oauth_client';
        return (await client.query<{ count: number }>(sql)).rows[0]?.count;
      });
    expect(await count()).to.be.above(200);
    clock.advance(3 * 86_400 + 1);
    await steps.register();
    expect(await count()).to.equal(1);
  });

  // spec/gateway.md R12
  it('is not there without an MCP client of per_user_oauth, whatever is sent', async () => {
    await removeMcpClient(instance.platform.database.platform, 'any');
    for (const body of ['{', JSON.stringify(examples.registration)]) {
      const answer = await sendRaw(instance.url, {
        method: 'POST',
        path: '/api/oauth/per-user/register',
        body,
        headers: { 'Content-Type': 'application/json' },
      });
      expectFault(answer, 404, 'not_found');
    }
  });
});
