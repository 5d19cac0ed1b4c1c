import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As much as an answer of a provider may have. */
const answerBytes = 250 * 1024;

/** As many keys as an answer may have; none of them is right. */
function keys(): object[] {
  const key = { kty: 'RSA', alg: 'RS256', use: 'sig', e: 'AQAB', n: 'n'.repeat(342) };
  return Array.from({ length: 600 }, (_each, index) => ({ ...key, kid: `key-${index}` }));
}

/** A provider at which people sign in and that takes part in the attack. */
export interface HostileProvider {
  /** What makes a product its client. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Says who it is, and answers nothing good after that: it exchanges codes never or for as much as may be,
 * and has keys without end.
 */
export async function startHostileProvider(): Promise<HostileProvider> {
  const answers: Record<string, (response: ServerResponse) => void> = {};
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    const answer = answers[new URL(request.url ?? '/', 'http://provider').pathname];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const json = (body: string) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  };
  answers['/.well-known/openid-configuration'] = json(
    JSON.stringify({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
  );
  answers['/keys'] = json(JSON.stringify({ keys: keys() }));
  const large = json(
    JSON.stringify({ access_token: 'a'.repeat(answerBytes), token_type: 'bearer' }),
  );
  answers['/token'] = (response) => {
    // Every second one is never answered.
    if ((asked += 1) % 2 === 0) large(response);
  };
  return {
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'durabill', OIDC_CLIENT_SECRET: 's'.repeat(32) },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
