import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { sendText } from '../../src/api/server/send-answer.js';

describe('a text that is sent as an answer', () => {
  let server: Server;
  let text = '';
  /** Bytes of each piece that was written. */
  let written: number[] = [];
  before(async () => {
    const app = new Koa();
    app.use((ctx) => {
      const write = ctx.res.write.bind(ctx.res) as (...args: unknown[]) => boolean;
      ctx.res.write = (...args: unknown[]) => {
        written.push((args[0] as Buffer).length);
        return write(...args);
      };
      ctx.status = 200;
      sendText(ctx, text);
    });
    server = createServer(app.callback() as never).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  after(() => new Promise((resolve) => server.close(resolve)));

  const answered = async (method = 'GET'): Promise<Response> => {
    written = [];
    const { port } = server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}/`, { method });
  };

  it('goes in pieces where it is long, with all of its characters and its length', async () => {
    // Pairs of two units, of which every second one would be cut at an even length.
    text = `"x${'😀é'.repeat(500_000)}"`;
    const response = await answered();
    expect(response.headers.get('content-length')).to.equal(String(Buffer.byteLength(text)));
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect((await response.text()) === text).to.equal(true);
    // 1,500,003 units, 65,536 in a piece, one less where a pair is at its end.
    expect(written).to.have.lengthOf(23);
    expect(Math.max(...written)).to.be.at.most(4 * 65_536);
  });

  it('goes whole where it is short', async () => {
    text = '{"a":"é"}';
    const response = await answered();
    expect(await response.text()).to.equal(text);
    expect(response.headers.get('content-length')).to.equal('10');
    expect(written).to.deep.equal([]);
  });

  it('is not sent to whom asks for its length alone', async () => {
    text = 'x'.repeat(1_000_000);
    const response = await answered('HEAD');
    expect(response.headers.get('content-length')).to.equal('1000000');
    expect(await response.text()).to.equal('');
  });
});
