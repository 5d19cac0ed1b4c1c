import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import Koa from 'koa';
import { readBodyText } from '../../src/api/server/body.js';

const bodyMax = 100;

/** What became of each body: its text, or the problem. */
describe('the body of a request', () => {
  let server: Server;
  let port: number;
  let read: string[] = [];
  let isLate = false;
  let tell: () => void = () => undefined;

  before(async () => {
    const app = new Koa().use(async (ctx) => {
      if (isLate) await new Promise((resolve) => ctx.req.on('close', resolve));
      const text = await readBodyText(ctx, bodyMax).catch((error: unknown) => String(error));
      read.push(text);
      tell();
      ctx.body = text;
    });
    // Some break off before they are answered.
    app.silent = true;
    const handle = app.callback();
    server = createServer((...asked) => void handle(...asked)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    read = [];
    isLate = false;
  });

  const send = (pieces: readonly (string | Buffer)[], headers: Readonly<Record<string, string>>) =>
    new Promise<string>((resolve, reject) => {
      const asked = request({ port, method: 'POST', headers }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(read.join()));
      });
      asked.on('error', reject);
      for (const piece of pieces) asked.write(piece);
      asked.end();
    });
  const json = 'application/json';

  const whole: [name: string, pieces: (string | Buffer)[], headers: Record<string, string>][] = [
    ['with a length', ['{"a":1}'], { 'content-type': json, 'content-length': '7' }],
    ['in two pieces', ['{"a"', ':1}'], { 'content-type': json, 'content-length': '7' }],
    ['without a length', ['{"a"', ':1}'], { 'content-type': json }],
    ['with a charset', ['{"a":1}'], { 'content-type': `${json}; charset=utf-8` }],
    ['compressed', [gzipSync('{"a":1}')], { 'content-type': json, 'content-encoding': 'gzip' }],
  ];
  for (const [name, pieces, headers] of whole) {
    it(`is read: ${name}`, async () => {
      expect(await send(pieces, headers)).to.equal('{"a":1}');
    });
  }

  it('is read as UTF-8, wherever it is divided', async () => {
    const bytes = Buffer.from('"ä€"');
    const headers = { 'content-type': json, 'content-length': String(bytes.length) };
    expect(await send([bytes.subarray(0, 2), bytes.subarray(2)], headers)).to.equal('"ä€"');
  });

  it('is empty where its length is 0', async () => {
    expect(await send([], { 'content-type': json, 'content-length': '0' })).to.equal('');
    expect(read).to.deep.equal(['']);
  });

  it('is refused where it is larger than it may be', async () => {
    const headers = { 'content-type': json, 'content-length': '101' };
    expect(await send(['x'.repeat(101)], headers)).to.include('larger than');
  });

  for (const late of [false, true]) {
    it(`is refused where it breaks off${late ? ' before it is read' : ''}`, async () => {
      isLate = late;
      const told = new Promise<void>((resolve) => (tell = resolve));
      const asked = once(server, 'request');
      const connection = connect(port, '127.0.0.1');
      const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${json}\r\nContent-Length: 7\r\n\r\n`;
      connection.write(`${head}{"a"`);
      await asked;
      connection.destroy();
      await told;
      expect(read).to.deep.equal(['Problem: The request body ended too early.']);
    });
  }
});
