import type { RequestListener, Server } from 'node:http';
import pg from 'pg';
import { expect } from 'chai';
import { answering, serve } from '../../src/api/main.js';
import { listenTo } from '../../src/platform/database/listen.js';
import { openLog } from '../../src/platform/log.js';
import { createTestDatabase } from '../support/servers/servers.js';

describe('what is thrown in a callback', () => {
  let lines: string[];
  const log = openLog('info', { write: (line) => void lines.push(line) });
  const localhost = { host: '127.0.0.1', port: 0 };
  beforeEach(() => {
    lines = [];
  });

  const faults: [string, Parameters<typeof answering>[0]][] = [
    [
      'at once',
      () => {
        throw new Error('at once');
      },
    ],
    ['later', () => Promise.reject(new Error('later'))],
  ];
  for (const [when, handle] of faults) {
    it(`by a request, ${when}, ends its connection and nothing else`, async () => {
      const faulty = answering(handle, log);
      const well: RequestListener = (_request, response) => void response.end('well');
      const api = await serve(localhost, log, (server) => {
        server.on('request', (request, response) =>
          request.url === '/faulty' ? faulty(request, response) : well(request, response),
        );
      });
      const failed = await fetch(`${api.url}/faulty`).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(TypeError);
      expect(await (await fetch(api.url)).text()).to.equal('well');
      expect(lines.join('')).to.include('a request could not be answered').and.include(when);
      await api.close();
    });
  }

  it('has no part in connections that cannot be accepted: the server goes on', async () => {
    let listening: Server | undefined;
    const api = await serve(localhost, log, (server) => {
      listening = server;
      server.on('request', (_request, response) => void response.end('well'));
    });
    for (let n = 0; n < 3; n += 1) listening?.emit('error', new Error('accept EMFILE'));
    expect(await (await fetch(api.url)).text()).to.equal('well');
    expect(lines.join('')).to.include('accept EMFILE');
    await api.close();
  });

  it('by a notice of the database that nobody understands passes it over', async () => {
    const url = await createTestDatabase();
    const heard: string[] = [];
    let hear = (): void => undefined;
    const all = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const stop = await listenTo([{ url, mayBeAway: false }], log)('a_channel', (payload) => {
      if (payload !== '') heard.push(JSON.parse(payload) as string);
      if (heard.includes('last')) hear();
    });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const payload of ['no JSON', '"well"', '"last"']) {
      await client.query('select pg_notify($1, $2)', ['a_channel', payload]);
    }
    await all;
    expect(heard).to.deep.equal(['well', 'last']);
    expect(lines.filter((line) => line.includes('cannot read a notice'))).to.have.length(1);
    await client.end();
    await stop();
  });
});
