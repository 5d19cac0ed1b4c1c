import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { databaseProblem } from '../../src/commands/rules/database-problem.js';
import { openDatabase } from '../../src/platform/database/database.js';

/** What a statement fails with on a database at this address. */
async function failureAt(address: string): Promise<unknown> {
  const database = openDatabase(`postgres://u:p@${address}/none`, 1);
  try {
    await database.platform.raw('select 1');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await database.close();
  }
}

describe('a database that cannot be reached', function () {
  this.timeout(30_000);
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  after(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });

  const startServer = async (onConnection: (socket: Socket) => void): Promise<string> => {
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      onConnection(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  const expectAway = (error: unknown): void => {
    expect(databaseProblem(error)?.kind, String(error)).to.equal('unavailable');
  };

  it('is away where it accepts connections and says nothing', async () => {
    expectAway(await failureAt(await startServer(() => undefined)));
  });

  it('is away where it hangs up', async () => {
    expectAway(await failureAt(await startServer((socket) => socket.destroy())));
  });

  it('is away where nobody knows its name', async () => {
    expectAway(await failureAt('nowhere.invalid:5432'));
  });

  it('is away where nobody listens', async () => {
    expectAway(await failureAt('127.0.0.1:1'));
  });
});
