import { once } from 'node:events';
import type { ServerResponse, Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { serve, type RunningApi } from '../../src/api/main.js';
import { openLog } from '../../src/platform/log.js';

const question = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

// Chromium opens connections before it knows what to ask, and keeps them.
describe('a server that is closed', () => {
  let api: RunningApi;
  let asked: ServerResponse[];
  const sockets: Socket[] = [];
  beforeEach(async () => {
    asked = [];
    const log = openLog('error', { write: () => undefined });
    api = await serve({ host: '127.0.0.1', port: 0, accepted: 4 }, log, (server: Server) => {
      server.on('request', (_request, response) => void asked.push(response));
    });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  const opened = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const isAsked = async (count: number): Promise<void> => {
    while (asked.length < count) await new Promise((resolve) => setImmediate(resolve));
  };

  it('does not wait for connections that have not asked anything', async () => {
    const silent = await opened();
    const halfway = await opened();
    halfway.write('GET / HTTP/1.1\r\nHo');
    const busy = await opened();
    busy.write(question);
    await isAsked(1);
    const closed = api.close();
    await Promise.all([once(silent, 'close'), once(halfway, 'close')]);
    asked[0]?.end('well');
    await closed;
  });

  it('keeps nothing of a connection that its client gave up before it was answered', async () => {
    const client = await opened();
    client.write(question);
    await isAsked(1);
    const given = asked.splice(0).map((response) => ({
      closed: once(response, 'close'),
      socket: new WeakRef(response.socket as Socket),
    }));
    client.destroy();
    for (const { closed } of given) await closed;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    // What timers and promises of this turn hold is free in one of the next.
    for (let turn = 0; turn < 50 && given[0]?.socket.deref(); turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(given.map(({ socket }) => socket.deref())).to.deep.equal([undefined]);
    await api.close();
  });

  it('answers what is under way, and nothing after that on its connection', async () => {
    const client = await opened();
    client.write(question);
    await isAsked(1);
    const closed = api.close();
    let text = '';
    client.on('data', (part: Buffer) => {
      text += part.toString();
      client.write(question);
    });
    asked[0]?.end('well');
    await Promise.all([closed, once(client, 'close')]);
    expect(text).to.match(/^HTTP\/1.1 200 OK\r\n[^]*well$/);
    expect(asked).to.have.length(1);
  });
});
