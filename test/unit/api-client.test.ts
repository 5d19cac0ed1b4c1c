import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ApiClient } from '../../src/cli/moving-in/api-client.js';

describe('commands that ask the API', () => {
  let server: Server;
  /** What each request is answered, in their order. */
  let statuses: number[];
  let asked: { readonly method: string | undefined; readonly key: unknown }[];
  let client: ApiClient;
  before((done) => {
    server = createServer(({ method, headers }, response) => {
      asked.push({ method, key: headers['idempotency-key'] });
      const status = statuses.shift() ?? 200;
      response.writeHead(status, { 'retry-after': '1' });
      response.end(status === 200 ? '{"is":"done"}' : '{"error":{"message":"Too many."}}');
    }).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      client = new ApiClient(`http://127.0.0.1:${port}`, 'token');
      done();
    });
  });
  beforeEach(() => {
    asked = [];
  });
  after((done) => void server.close(done));

  it('send again, when they are told to, what was refused for the number of requests', async () => {
    statuses = [429];
    const since = performance.now();
    expect(await client.post('/v1/x', '{}', 'one')).to.deep.equal({ is: 'done' });
    expect(performance.now() - since).to.be.at.least(990);
    const one = { method: 'POST', key: 'one' };
    expect(asked).to.deep.equal([one, one]);
  });

  it('send nothing else again', async () => {
    statuses = [500];
    const failed = await client.get('/v1/x').catch((error: unknown) => error);
    expect(failed).to.have.property('message', 'GET /v1/x: Too many.');
    expect(asked).to.have.length(1);
  });
});
