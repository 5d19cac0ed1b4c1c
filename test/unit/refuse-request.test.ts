import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { refuseRequests } from '../../src/api/server/refuse-request.js';
import { openMetrics } from '../../src/platform/metrics.js';
import type { Platform } from '../../src/process/platform.js';

const message = 'More requests arrive than can be answered; send it again.';

describe('a refused request', () => {
  const metrics = openMetrics(() => new Map());
  let server: Server;
  let url: string;
  before(async () => {
    const platform = { config: { publicUrl: 'https://billing.example' }, metrics };
    server = createServer(refuseRequests(platform as unknown as Platform));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after((done) => void server.close(done));

  const bodies: readonly (readonly [method: string, path: string, body: object])[] = [
    [
      'POST',
      '/v1/ingest/usage',
      { is_gateway_error: false, status_code: 503, error: { message }, extra_fields: {} },
    ],
    [
      'GET',
      '/api/v1/external/accounts?q=a',
      { status: 503, error: 'Service Unavailable', message, path: 'uri=/api/v1/external/accounts' },
    ],
  ];
  for (const [method, path, body] of bodies) {
    it(`is answered as its family does: ${method} ${path}`, async () => {
      const answer = await fetch(url + path, {
        method,
        headers: { 'X-Request-Id': 'mine-1' },
        ...(method === 'POST' ? { body: JSON.stringify({ message: 'x'.repeat(200_000) }) } : {}),
      });
      expect(answer.status).to.equal(503);
      expect(await answer.json()).to.deep.equal(body);
      expect(Object.fromEntries(answer.headers)).to.include({
        'retry-after': '1',
        'x-request-id': 'mine-1',
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
        'x-frame-options': 'DENY',
        'strict-transport-security': 'max-age=31536000',
      });
    });
  }

  it('has an id of its own, is counted, and may be given up', async () => {
    const countOf = async (): Promise<number> =>
      (await metrics.httpRequests.get()).values.reduce((sum, { value }) => sum + value, 0);
    const before = await countOf();
    const given = new AbortController();
    const givenUp = fetch(`${url}/v1/records/order`, { signal: given.signal }).catch(() => 'gone');
    const answer = await fetch(`${url}/v1/records/order`);
    given.abort();
    expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    const { error } = (await answer.json()) as { error: object };
    expect(error).to.include({ code: 'UNAVAILABLE', message });
    await givenUp;
    expect(await countOf()).to.equal(before + 2);
  });
});
