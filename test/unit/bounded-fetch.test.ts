import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { boundedFetch } from '../../src/adapters/oidc/bounded-fetch.js';

describe('a request with bounds', () => {
  let server: Server;
  let url: string;
  let answer: (response: ServerResponse) => void;
  before(async () => {
    server = createServer((_request, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const bounds = { timeoutMs: 2_000, bytesMax: 1_000, openMax: 2 };
  const get = { method: 'GET', headers: {} };
  const faultOf = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'none',
      (error: unknown) => String(error),
    );

  it('has the answer where it keeps to them', async () => {
    answer = (response) => response.writeHead(201, { 'X-Own': 'a' }).end('b'.repeat(1_000));
    const response = await boundedFetch(bounds)(url, get);
    expect(response.status).to.equal(201);
    expect(response.headers.get('x-own')).to.equal('a');
    expect(await response.text()).to.equal('b'.repeat(1_000));
    answer = (response) => response.writeHead(204).end();
    expect((await boundedFetch(bounds)(url, get)).status).to.equal(204);
  });

  it('ends at its bytes, also of what was packed', async () => {
    answer = (response) => response.end('b'.repeat(1_001));
    expect(await faultOf(boundedFetch(bounds)(url, get))).to.include('longer than 1000 bytes');
    answer = (response) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('b'.repeat(100_000)));
    expect(await faultOf(boundedFetch(bounds)(url, get))).to.include('longer than 1000 bytes');
  });

  it('ends after its time, also between two parts of the answer', async () => {
    answer = (response) => void response.writeHead(200).write('a');
    const brief = boundedFetch({ ...bounds, timeoutMs: 200 });
    const begun = performance.now();
    expect(await faultOf(brief(url, get))).to.include('timeout');
    expect(performance.now() - begun).to.be.at.least(150);
  });

  it('follows nobody elsewhere', async () => {
    answer = (response) => response.writeHead(302, { Location: `${url}/elsewhere` }).end();
    expect((await boundedFetch(bounds)(url, get)).status).to.equal(302);
  });

  it('is one of a few at once', async () => {
    const waiting: ServerResponse[] = [];
    let came: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      came = resolve;
    });
    answer = (response) => {
      waiting.push(response);
      if (waiting.length === 2) came();
    };
    const ask = boundedFetch(bounds);
    const asked = [ask(url, get), ask(url, get)];
    await both;
    expect(await faultOf(ask(url, get))).to.include('2 requests wait');
    for (const response of waiting) response.end('a');
    await Promise.all(asked);
    answer = (response) => response.end('a');
    expect((await ask(url, get)).status).to.equal(200);
  });
});
