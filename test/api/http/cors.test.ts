import { expect } from 'chai';
import { sendRaw } from '../../support/http/raw.js';
import { useInstance } from '../../support/servers/use-instance.js';

const origin = 'https://console.example';
const path = '/api/v1/external/accounts';

describe('pages of other origins', () => {
  const instance = useInstance({ corsOrigins: [origin, 'http://localhost:5173'] });

  const ask = (method: string, headers: Record<string, string>, at = path) =>
    sendRaw(instance.url, { method, path: at, headers });
  const preflight = (from: string) =>
    ask('OPTIONS', { Origin: from, 'Access-Control-Request-Method': 'PUT' });

  it('may ask and read where the configuration allows it, also what an error says', async () => {
    const asked = await preflight(origin);
    expect(asked.status).to.equal(204);
    expect(asked.headers).to.include({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET,HEAD,POST,PUT,DELETE',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    expect(asked.headers['access-control-allow-headers']).to.include('authorization');
    const { token } = await instance.tenant();
    const read = await ask('GET', { Origin: origin, Authorization: `Bearer ${token}` });
    const refused = await ask('GET', { Origin: 'http://localhost:5173' });
    expect([read.status, refused.status]).to.deep.equal([200, 401]);
    expect(read.headers['access-control-allow-origin']).to.equal(origin);
    expect(refused.headers['access-control-allow-origin']).to.equal('http://localhost:5173');
    expect(read.headers['access-control-expose-headers']).to.include('X-Request-Id');
    // A token is in a header that the page sets; the browser adds nothing of its own.
    expect(read.headers).not.to.have.property('access-control-allow-credentials');
  });

  it('are told nothing when they are not named, however similar', async () => {
    for (const other of [
      'https://console.example.evil.example',
      'https://evil.example',
      'http://console.example',
      'https://console.example:8443',
      'null',
    ]) {
      const answers = [await preflight(other), await ask('GET', { Origin: other })];
      expect(answers.map(({ status }) => status)).to.deep.equal([405, 401]);
      for (const { headers } of answers) {
        const names = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
        expect(names, other).to.deep.equal([]);
        // What is answered depends on who asks: a cache must not mix them up.
        expect(headers.vary, other).to.include('Origin');
      }
    }
  });

  it('still find the metadata of OAuth open to all', async () => {
    const { headers } = await ask(
      'GET',
      { Origin: 'https://assistant.example' },
      '/.well-known/oauth-authorization-server',
    );
    expect(headers['access-control-allow-origin']).to.equal('*');
  });
});
