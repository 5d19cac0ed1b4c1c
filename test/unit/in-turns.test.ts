import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { listenInTurns } from '../../src/api/server/requests-in-turns.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** More turns than the requests that a test has sent need. */
async function turns(): Promise<void> {
  for (let each = 0; each < 200; each += 1) await turn();
}

describe('requests in turns', () => {
  let server: EventEmitter;
  let begun: number[];
  let refused: number[];
  /** Milliseconds that starting a request takes, at once and after what is done at once. */
  let takes: number;
  let takesAfterwards: number;
  /** The clock of the test: time passes by work alone, however busy the machine is. */
  let time: number;
  const work = (millis: number): void => {
    time += millis;
  };
  beforeEach(() => {
    takes = 0;
    takesAfterwards = 0;
    time = 0;
    server = new EventEmitter();
    begun = [];
    refused = [];
    listenInTurns(server, {
      begin: ({ headers }) => {
        begun.push(Number(headers['x-number']));
        if (headers['x-client'] !== 'quick') work(takes);
        if (takesAfterwards > 0) queueMicrotask(() => work(takesAfterwards));
      },
      refuse: ({ headers }) => void refused.push(Number(headers['x-number'])),
      clientOf: ({ headers }) => String(headers['x-client'] ?? ''),
      now: () => time,
    });
  });

  /** Nothing that a test has left waiting begins in the next one. */
  afterEach(async () => {
    [takes, takesAfterwards] = [0, 0];
    await turns();
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

  it('begin in the turn in which they came while few come', async () => {
    send(0, 2);
    await turn();
    expect(begun).to.deep.equal(numbers(0, 2));
  });

  it('wait for one of each client, not for all that one has sent', async () => {
    send(0, 500, 'crowd');
    send(1_000, 1_002, 'other');
    await turns();
    expect(begun.indexOf(1_000)).to.equal(1);
    expect(begun.indexOf(1_001)).to.equal(3);
  });

  it('wait for a client whose requests take long no longer than for another', async () => {
    takes = 2;
    send(0, 20, 'slow');
    send(1_000, 1_004, 'quick');
    await turns();
    // Each of the first costs its client eight places in the row.
    expect(begun.slice(0, 5)).to.deep.equal([0, 1_000, 1_001, 1_002, 1_003]);
    expect(begun).to.have.length(24);
  });

  it('are refused by the number of one client, and let others in', async () => {
    send(0, 1_000, 'crowd');
    expect(refused).to.deep.equal([]);
    send(2_000, 2_001, 'crowd');
    expect(refused).to.deep.equal([2_000]);
    send(3_000, 3_001, 'other');
    await turns();
    expect(begun).to.include(3_000);
  });

  it('go on in the order in which they came, at most 64 a turn', async () => {
    send(0, 150);
    await turn();
    expect(begun).to.have.length.at.most(64);
    send(150, 152);
    await turns();
    expect(begun).to.deep.equal(numbers(0, 152));
  });

  it('are fewer a turn where starting one takes long', async () => {
    takes = 25;
    send(0, 4);
    for (const count of [1, 2, 3, 4]) {
      await turn();
      expect(begun).to.have.length(count);
    }
  });

  it('are fewer where they take long only after what is done at once', async () => {
    takesAfterwards = 25;
    send(0, 4);
    for (const count of [1, 2, 3, 4]) {
      await turn();
      expect(begun).to.have.length(count);
    }
  });

  it('are refused beyond 64 of one connection that are not answered, and cut off beyond 128', async () => {
    const socket = new Socket();
    const answers = sendOn(socket, 0, 66);
    expect(refused).to.deep.equal([64, 65]);
    for (const answer of answers) answer.emit('close');
    sendOn(socket, 66, 68);
    await turns();
    expect(begun).to.deep.equal([...numbers(0, 64), 66, 67]);
    sendOn(socket, 68, 194);
    expect(socket.destroyed).to.equal(false);
    sendOn(socket, 194, 195);
    expect(socket.destroyed).to.equal(true);
    // Two at first, and of these 126 those beyond the 62 that still may wait.
    expect(refused).to.have.length(2 + 126 - 62);
  });

  it('are not begun when their client has left before their turn', async () => {
    send(0, 64);
    const socket = new Socket();
    sendOn(socket, 64, 70);
    send(70, 72);
    socket.destroy();
    await turns();
    expect(begun).to.deep.equal([...numbers(0, 64), 70, 71]);
  });

  it('are refused beyond 1,000 that wait, and taken again afterwards', async () => {
    send(0, 1_008);
    expect(refused).to.deep.equal(numbers(1_000, 1_008));
    await turns();
    expect(begun).to.deep.equal(numbers(0, 1_000));
    send(1_008, 1_009);
    expect(refused).to.have.length(8);
    await turns();
    expect(begun.at(-1)).to.equal(1_008);
  });
});
