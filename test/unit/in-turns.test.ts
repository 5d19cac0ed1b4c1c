import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { listenInTurns } from '../../src/api/server/in-turns.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('requests in turns', () => {
  let server: EventEmitter;
  let begun: number[];
  let refused: number[];
  beforeEach(() => {
    server = new EventEmitter();
    begun = [];
    refused = [];
    const into =
      (list: number[]): RequestListener =>
      ({ headers }) =>
        void list.push(Number(headers['x-number']));
    listenInTurns(server, {
      begin: into(begun),
      refuse: into(refused),
      clientOf: ({ headers }) => String(headers['x-client'] ?? ''),
    });
  });

  const send = (from: number, to: number, client = ''): void => {
    for (let number = from; number < to; number += 1) {
      const request = new IncomingMessage(new Socket());
      request.headers['x-number'] = String(number);
      request.headers['x-client'] = client;
      server.emit('request', request, new ServerResponse(request));
    }
  };
  /** The same on one connection, whose answers are given back. */
  const sendOn = (socket: Socket, from: number, to: number): ServerResponse[] =>
    numbers(from, to).map((number) => {
      const request = new IncomingMessage(socket);
      request.headers['x-number'] = String(number);
      const response = new ServerResponse(request);
      server.emit('request', request, response);
      return response;
    });
  const numbers = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_each, index) => from + index);

  it('begin at once while few come', () => {
    send(0, 64);
    expect(begun).to.deep.equal(numbers(0, 64));
  });

  it('wait for one of each client, not for all that one has sent', async () => {
    send(0, 500, 'crowd');
    send(1_000, 1_002, 'other');
    await turn();
    expect(begun.indexOf(1_000)).to.equal(65);
    expect(begun.indexOf(1_001)).to.equal(67);
    expect(begun).to.have.length(128);
  });

  it('are refused by the number of one client, and let others in', async () => {
    send(0, 64 + 1_000, 'crowd');
    expect(refused).to.deep.equal([]);
    send(2_000, 2_001, 'crowd');
    expect(refused).to.deep.equal([2_000]);
    send(3_000, 3_001, 'other');
    await turn();
    expect(begun).to.include(3_000);
  });

  it('go on in the order in which they came, 64 a turn', async () => {
    send(0, 150);
    expect(begun).to.deep.equal(numbers(0, 64));
    await turn();
    expect(begun).to.deep.equal(numbers(0, 128));
    send(150, 152);
    await turn();
    expect(begun).to.deep.equal(numbers(0, 152));
    await turn();
    send(152, 153);
    expect(begun).to.deep.equal(numbers(0, 153));
  });

  it('begin two a turn while connections come', async () => {
    server.emit('connection');
    send(0, 10);
    expect(begun).to.deep.equal(numbers(0, 2));
    await turn();
    server.emit('connection');
    expect(begun).to.deep.equal(numbers(0, 4));
    await turn();
    expect(begun).to.deep.equal(numbers(0, 6));
    await turn();
    expect(begun).to.deep.equal(numbers(0, 10));
  });

  it('are refused beyond 64 of one connection that are not answered, and cut off beyond 256', async () => {
    const socket = new Socket();
    const answers = sendOn(socket, 0, 66);
    expect(refused).to.deep.equal([64, 65]);
    for (const answer of answers) answer.emit('close');
    sendOn(socket, 66, 68);
    await turn();
    await turn();
    expect(begun).to.deep.equal([...numbers(0, 64), 66, 67]);
    sendOn(socket, 68, 322);
    expect(socket.destroyed).to.equal(false);
    sendOn(socket, 322, 323);
    expect(socket.destroyed).to.equal(true);
    expect(refused).to.have.length(2 + 322 - 130);
  });

  it('are not begun when their client has left before their turn', async () => {
    send(0, 64);
    const socket = new Socket();
    sendOn(socket, 64, 70);
    send(70, 72);
    socket.destroy();
    await turn();
    expect(begun).to.deep.equal([...numbers(0, 64), 70, 71]);
  });

  it('are refused beyond 1,000 that wait, and taken again afterwards', async () => {
    send(0, 1_072);
    expect(refused).to.deep.equal(numbers(1_064, 1_072));
    expect(begun).to.deep.equal(numbers(0, 64));
    for (let turns = 0; turns < 16; turns += 1) await turn();
    expect(begun).to.deep.equal(numbers(0, 1_064));
    send(1_072, 1_073);
    expect(refused).to.have.length(8);
    await turn();
    expect(begun.at(-1)).to.equal(1_072);
  });
});
