import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { closeWithoutStacks } from '../../src/api/server/limit-connections.js';

describe('requests of a connection that has closed', () => {
  let server: Server;
  let client: Socket;
  before(async () => {
    server = createServer();
    closeWithoutStacks(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  });
  after(() => {
    client.destroy();
    server.close();
  });

  it('end with errors without stacks, and other errors keep theirs', async () => {
    const before = Error.stackTraceLimit;
    const requests: IncomingMessage[] = [];
    const failures: Error[] = [];
    const arrived = new Promise<void>((resolve) => {
      server.on('request', (request: IncomingMessage) => {
        requests.push(request);
        request.on('error', (error) => failures.push(error));
        if (requests.length === 3) resolve();
      });
    });
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'.repeat(2));
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf');
    await arrived;
    const { socket } = requests[0] as IncomingMessage;
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    await new Promise((resolve) => setImmediate(resolve));
    expect(failures.map(({ stack }) => stack)).to.deep.equal(requests.map(() => 'Error: aborted'));
    expect(Error.stackTraceLimit).to.equal(before);
    expect(new Error('another').stack).to.contain('\n    at ');
  });
});
