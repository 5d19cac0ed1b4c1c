import { get } from 'node:http';
import type { Server } from 'node:http';
import { expect } from 'chai';
import { serve } from '../../src/api/main.js';
import { openLog } from '../../src/platform/log.js';

const clients = 64;

/** In how many turns of the event loop all of many clients that come together are accepted. */
async function turnsToAccept(accepted: number): Promise<number> {
  let count = 0;
  let turns = 0;
  let firstAt = 0;
  const log = openLog('error', { write: () => undefined });
  const place = { host: '127.0.0.1', port: 0, accepted };
  const api = await serve(place, log, (server: Server) => {
    server.on('connection', () => {
      count += 1;
      if (count === 1) firstAt = turns;
    });
    server.on('request', (_request, response) => void response.end('well'));
  });
  const turn = (): void => {
    turns += 1;
    // Longer than a connection takes to arrive.
    const until = performance.now() + 3;
    while (performance.now() < until);
    if (count < clients) setImmediate(turn);
  };
  setImmediate(turn);
  const answers = Array.from(
    { length: clients },
    () =>
      new Promise<number | undefined>((resolve, reject) => {
        get(api.url, { agent: false }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        }).on('error', reject);
      }),
  );
  expect(await Promise.all(answers)).to.deep.equal(answers.map(() => 200));
  await api.close();
  return turns - firstAt;
}

describe('connections that come together', () => {
  it('are accepted sixteen in a turn of the event loop, and answered, where so many are asked for', async () => {
    expect(await turnsToAccept(16)).to.be.within(clients / 16 - 1, clients / 4);
    expect(await turnsToAccept(1)).to.be.at.least(clients - 1);
  });

  it('are accepted nowhere once the server is closed', async () => {
    const log = openLog('error', { write: () => undefined });
    const api = await serve({ host: '127.0.0.1', port: 0, accepted: 4 }, log, (server: Server) => {
      server.on('request', (_request, response) => void response.end('well'));
    });
    expect((await fetch(api.url)).status).to.equal(200);
    await api.close();
    const failed = await fetch(api.url).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(TypeError);
  });
});
