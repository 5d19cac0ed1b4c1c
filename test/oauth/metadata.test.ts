import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { rotateSigningKey, removeSigningKey } from '../../src/access/signing-keys.js';
import { openTokenKeys } from '../../src/access/tokens.js';
import { movedClock } from '../support/http/oauth.js';
import { sendRaw } from '../support/http/raw.js';
import { useInstance } from '../support/servers/use-instance.js';

const wellKnown = '/.well-known';

describe('OAuth: metadata and keys', () => {
  const clock = movedClock();
  const instance = useInstance({ isPublic: true, now: clock.now });
  const get = (path: string, headers: Record<string, string> = {}) =>
    sendRaw(instance.url, { method: 'GET', path, headers });

  // spec/gateway.md R25
  it('describes the server (RFC 8414), whatever the Host header says', async () => {
    const path = `${wellKnown}/oauth-authorization-server`;
    const answer = await get(path, { Host: 'evil.example', Origin: 'https://app.example' });
    expect(answer.status).to.equal(200);
    expect(answer.headers['access-control-allow-origin']).to.equal('*');
    const { url } = instance;
    expect(JSON.parse(answer.text)).to.deep.equal({
      issuer: url,
      authorization_endpoint: `${url}/api/oauth/per-user/authorize`,
      token_endpoint: `${url}/api/oauth/per-user/token`,
      registration_endpoint: `${url}/api/oauth/per-user/register`,
      revocation_endpoint: `${url}/api/oauth/per-user/revoke`,
      jwks_uri: `${url}/.well-known/jwks.json`,
      scopes_supported: ['mcp:read', 'mcp:write'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${url}/docs`,
    });
  });

  // spec/gateway.md R25
  it('describes the API and its MCP server as resources (RFC 9728)', async () => {
    for (const suffix of ['', '/mcp']) {
      const answer = await get(`${wellKnown}/oauth-protected-resource${suffix}`);
      expect(answer.headers['access-control-allow-origin']).to.equal('*');
      expect(JSON.parse(answer.text)).to.deep.equal({
        resource: `${instance.url}${suffix}`,
        authorization_servers: [instance.url],
        scopes_supported: ['mcp:read', 'mcp:write'],
        bearer_methods_supported: ['header'],
        resource_name: 'Durabill',
        resource_documentation: `${instance.url}/docs`,
      });
    }
  });

  it('answers to the names of this machine by each of them, and to no other', async () => {
    const { port, hostname } = new URL(instance.url);
    for (const [name, expected] of [
      ['127.0.0.1', '127.0.0.1'],
      ['localhost', 'localhost'],
      ['[::1]', '[::1]'],
      ['127.0.0.2', hostname],
      ['localhost.evil.example', hostname],
    ]) {
      const headers = { Host: `${name}:${port}` };
      const issuer = `http://${expected}:${port}`;
      const server = await get(`${wellKnown}/oauth-authorization-server`, headers);
      expect(JSON.parse(server.text)).to.include({ issuer });
      const resource = await get(`${wellKnown}/oauth-protected-resource/mcp`, headers);
      expect(JSON.parse(resource.text)).to.deep.include({
        resource: `${issuer}/mcp`,
        authorization_servers: [issuer],
      });
      const challenge = (await get('/mcp', headers)).headers['www-authenticate'];
      expect(challenge).to.include(`"${issuer}${wellKnown}/oauth-protected-resource/mcp"`);
    }
    const otherPort = await get(`${wellKnown}/oauth-authorization-server`, { Host: 'localhost:1' });
    expect(JSON.parse(otherPort.text)).to.include({ issuer: instance.url });
  });

  it('has no other variant, which a client would take for another issuer', async () => {
    for (const path of [
      'oauth-authorization-server/mcp',
      'oauth-authorization-server/api/oauth/per-user',
      'oauth-protected-resource/other',
      'openid-configuration',
      'openid-configuration/mcp',
    ]) {
      expect((await get(`${wellKnown}/${path}`)).status, path).to.equal(404);
    }
  });

  it('may be asked by pages of any origin', async () => {
    for (const path of [
      `${wellKnown}/oauth-authorization-server`,
      `${wellKnown}/oauth-protected-resource`,
      `${wellKnown}/oauth-protected-resource/mcp`,
      '/api/oauth/per-user/token',
      '/api/oauth/per-user/revoke',
    ]) {
      const headers = { Origin: 'null', 'Access-Control-Request-Headers': 'mcp-protocol-version' };
      const answer = await sendRaw(instance.url, { method: 'OPTIONS', path, headers });
      expect(answer.status, path).to.equal(204);
      expect(answer.headers['access-control-allow-origin'], path).to.equal('*');
      expect(answer.headers['access-control-allow-headers']).to.include('mcp-protocol-version');
      expect(answer.headers).to.not.have.property('access-control-allow-credentials');
    }
  });

  it('rotates its keys: old tokens stay valid until their key is removed', async () => {
    const { platform } = instance;
    const { platform: db } = platform.database;
    const tenant = await instance.tenant();
    const published = async (): Promise<string[]> => {
      const { keys } = JSON.parse((await get(`${wellKnown}/jwks.json`)).text);
      return (keys as { kid: string }[]).map(({ kid }) => kid);
    };
    const status = async (token: string): Promise<number> => {
      const headers = { Authorization: `Bearer ${token}` };
      return (await get('/api/v1/external/accounts', headers)).status;
    };
    const [oldKid = ''] = await published();
    const kid = await rotateSigningKey(db, platform.secrets);
    expect(await removeSigningKey(db, 'nonsense')).to.equal(false);
    const refusal = await removeSigningKey(db, kid).catch((error: Error) => error.message);
    expect(refusal).to.match(/signs new tokens/);

    // Another process signs with the new key at once; this one looks for a key that it does not know.
    const other = await openTokenKeys(db, platform.secrets, instance.url, {
      now: clock.now,
    });
    const request = { tenantId: tenant.id, orgId: null, roles: ['ADMIN'], subject: 'x' };
    const token = await other.issue({ ...request, expiresInSeconds: 600 });
    expect(decodeProtectedHeader(token).kid).to.equal(kid);
    clock.advance(5);
    expect([await status(token), await status(tenant.token)]).to.deep.equal([200, 200]);
    expect(await published()).to.deep.equal([kid, oldKid]);

    expect(await removeSigningKey(db, oldKid)).to.equal(true);
    clock.advance(60);
    expect(await published()).to.deep.equal([kid]);
    const old = await platform.tokens.verify(tenant.token).catch((error: Error) => error.message);
    expect(old).to.equal('The token is not valid.');
    expect(await status(token)).to.equal(200);
  });
});
