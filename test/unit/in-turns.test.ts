import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { listenInTurns } from '../../src/api/in-turns.js';

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
    listenInTurns(server, into(begun), into(refused));
  });

  const send = (from: number, to: number): void => {
    for (let number = from; number < to; number += 1) {
      const request = new IncomingMessage(new Socket());
      request.headers['x-number'] = String(number);
      server.emit('request', request, new ServerResponse(request));
    }
  };
  const numbers = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_each, index) => from + index);

  it('begin at once while few come', () => {
    send(0, 64);
    expect(begun).to.deep.equal(numbers(0, 64));
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
