import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { createServer, type AddressInfo, type Server, type Socket as Connection } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { openLog } from '../../src/platform/log.js';
import {
  openRequestSenderApart,
  type RequestSenderApart,
} from '../../src/adapters/outgoing/request-sender-apart.js';
import { openWebhookSender, webhookDefaults } from '../../src/adapters/webhooks/webhook-sender.js';
import { openReceiver } from '../support/servers/receiver.js';

const settings = {
  ...webhookDefaults,
  allowsPrivateAddresses: false,
  timeoutMs: 1_500,
  namesTimeoutMs: 600,
};

/** A name server: what it does with a question is up to the test. */
async function openNameServer(
  answer: (question: Buffer, from: RemoteInfo, socket: Socket) => void,
): Promise<{ readonly address: string; readonly close: () => void }> {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => answer(question, from, socket));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

/** A server of TCP: what it does with a connection is up to the test. */
async function openTcp(serve: (connection: Connection) => void): Promise<{
  readonly url: string;
  readonly close: () => void;
}> {
  const connections = new Set<Connection>();
  const server: Server = createServer((connection) => {
    connections.add(connection);
    connection.on('error', () => undefined);
    serve(connection);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      for (const connection of connections) connection.destroy();
      server.close();
    },
  };
}

/** Writes the same again and again until the connection is closed. */
function writeForEver(connection: Connection, text: string, everyMs: number): void {
  const timer = setInterval(() => connection.write(text), everyMs);
  connection.on('close', () => clearInterval(timer));
}

const flags = { refused: 0x8185, unknown: 0x8183, failed: 0x8182, fine: 0x8180 };

/** An answer without addresses. */
function empty(question: Buffer, flag: number): Buffer {
  const answer = Buffer.from(question);
  answer.writeUInt16BE(flag, 2);
  return answer;
}

const message = (url: string) => ({ url, id: 'id', body: '{}', secrets: ['geheim'] });

describe('a webhook whose name server', () => {
  const cases: [string, (question: Buffer, from: RemoteInfo, socket: Socket) => void, RegExp][] = [
    ['is silent', () => undefined, /^The name a\.example got no answer of the name servers\.$/],
    [
      'knows no such name',
      (question, { port }, socket) => socket.send(empty(question, flags.unknown), port),
      /^The name a\.example is not known\.$/,
    ],
    [
      'answers with no address',
      (question, { port }, socket) => socket.send(empty(question, flags.fine), port),
      /^The name a\.example is not known\.$/,
    ],
    [
      'fails',
      (question, { port }, socket) => socket.send(empty(question, flags.failed), port),
      /^The name a\.example could not be looked up \(ESERVFAIL\)\.$/,
    ],
    [
      'refuses',
      (question, { port }, socket) => socket.send(empty(question, flags.refused), port),
      /^The name a\.example could not be looked up \(EREFUSED\)\.$/,
    ],
    [
      'answers garbage',
      (question, { port }, socket) =>
        socket.send(Buffer.concat([question.subarray(0, 2), Buffer.alloc(500, 0xff)]), port),
      /^The name a\.example (could not be looked up|got no answer)/,
    ],
  ];
  for (const [name, answer, expected] of cases) {
    it(`${name} is a failed attempt with its reason, in time`, async () => {
      const server = await openNameServer(answer);
      const sender = openWebhookSender({ ...settings, nameServers: [server.address] });
      const began = performance.now();
      const url = 'http://a.example/hook';
      expect(await sender.findRefusal(url)).to.equal(undefined);
      const outcome = await sender.send(message(url));
      expect(outcome).to.include({ isOk: false, statusCode: null });
      expect(outcome.error).to.match(expected);
      expect(performance.now() - began).to.be.lessThan(2 * settings.namesTimeoutMs + 1_000);
      await sender.close();
      server.close();
    });
  }

  it('is away is a failed attempt with its reason', async () => {
    const server = await openNameServer(() => undefined);
    server.close();
    const sender = openWebhookSender({ ...settings, nameServers: [server.address] });
    const { error } = await sender.send(message('http://a.example/hook'));
    expect(error).to.match(/^The name a\.example (could not be looked up|got no answer)/);
    await sender.close();
  });

  it('is silent holds up no file of this process, however many names are asked for', async () => {
    const server = await openNameServer(() => undefined);
    // What becomes of a name is said by the end of its own time, not by that of the attempt.
    const patient = { ...settings, timeoutMs: 60_000 };
    const sender = openWebhookSender({ ...patient, nameServers: [server.address] });
    const attempts = Array.from({ length: 100 }, (_each, n) =>
      sender.send(message(`http://n${n}.example/hook`)),
    );
    await wait(50);
    const { readFile } = await import('node:fs/promises');
    const began = performance.now();
    await readFile(new URL(import.meta.url));
    // Behind a hundred names on four threads it would take a quarter of a minute and more.
    expect(performance.now() - began).to.be.lessThan(10_000);
    const answers = await Promise.all(attempts);
    expect(answers.filter(({ error }) => /got no answer/.test(error ?? ''))).to.have.length(100);
    await sender.close();
    server.close();
  });
});

describe('a webhook whose receiver', () => {
  const cases: [string, (connection: Connection) => void, object | RegExp][] = [
    ['never answers', () => undefined, /^There was no answer within 1\.5 s\.$/],
    [
      'sends headers without end',
      (connection) => {
        connection.write('HTTP/1.1 200 OK\r\n');
        writeForEver(connection, `x-a: ${'b'.repeat(4_000)}\r\n`, 1);
      },
      /^There was no answer: /,
    ],
    [
      'sends headers slowly',
      (connection) => {
        connection.write('HTTP/1.1 200 OK\r\n');
        writeForEver(connection, 'x: y\r\n', 100);
      },
      /^There was no answer within 1\.5 s\.$/,
    ],
    [
      'goes on to say that it goes on',
      (connection) => writeForEver(connection, 'HTTP/1.1 102 Processing\r\n\r\n', 20),
      /^There was no answer within 1\.5 s\.$/,
    ],
    [
      'sends a body slowly and without end',
      (connection) => {
        connection.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        writeForEver(connection, '1\r\nx\r\n', 100);
      },
      { isOk: true, statusCode: 200, error: null },
    ],
    [
      'sends a body of the greatest length and then nothing',
      (connection) =>
        connection.write('HTTP/1.1 200 OK\r\ncontent-length: 9007199254740991\r\n\r\nbegin'),
      { isOk: true, statusCode: 200, error: null },
    ],
    ['speaks no HTTP', (connection) => connection.end('SSH-2.0\r\n'), /^There was no answer: /],
    ['hangs up', (connection) => connection.destroy(), /^There was no answer: /],
  ];
  for (const [name, serve, expected] of cases) {
    it(`${name} costs no more than the time of an attempt`, async () => {
      const server = await openTcp(serve);
      const open = { ...settings, allowsPrivateAddresses: true };
      const sender = openWebhookSender(open);
      const answer = await sender.send(message(server.url));
      if (expected instanceof RegExp) expect(answer.error).to.match(expected);
      else expect(answer).to.include(expected);
      expect(answer.durationMs).to.be.lessThan(3_000);
      await sender.close();
      server.close();
    });
  }
});

describe('the process that sends webhooks', () => {
  let lines: string[];
  let requestSender: RequestSenderApart;
  // The first attempt begins with the start of the process, which on a slow machine takes seconds.
  const open = { ...settings, allowsPrivateAddresses: true, timeoutMs: 20_000 };
  beforeEach(() => {
    lines = [];
    requestSender = openRequestSenderApart(
      open,
      openLog('info', { write: (line) => lines.push(line) }),
    );
  });
  afterEach(() => requestSender.close());
  const send = (url: string) => openWebhookSender(open, { requestSender }).send(message(url));

  it('is another one, and sends', async () => {
    const receiver = await openReceiver();
    expect(await send(receiver.url)).to.include({ isOk: true, statusCode: 204, error: null });
    expect(receiver.received.map(({ id }) => id)).to.deep.equal(['id']);
    expect(requestSender.pid()).to.be.a('number').that.does.not.equal(process.pid);
    await receiver.close();
  });

  it('may die: its attempts have failed, and the next one is made by another', async () => {
    const receiver = await openReceiver();
    await send(receiver.url);
    const first = requestSender.pid() ?? 0;
    receiver.answer = () => undefined;
    const lost = send(receiver.url);
    await receiver.until((all) => all.length === 2);
    process.kill(first, 'SIGKILL');
    expect(await lost).to.include({ isOk: false, statusCode: null });
    expect((await lost).error).to.equal('The sender of webhooks failed: it ended with SIGKILL.');
    receiver.answer = (_request, response) => void response.writeHead(204).end();
    expect(await send(receiver.url)).to.include({ isOk: true });
    expect(requestSender.pid()).not.to.equal(first);
    expect(lines.join('')).to.include('the process that sends webhooks has ended');
    await receiver.close();
  });

  it('is ended when this one closes it', async () => {
    const receiver = await openReceiver();
    await send(receiver.url);
    const pid = requestSender.pid() ?? 0;
    await requestSender.close();
    expect(requestSender.pid()).to.equal(undefined);
    expect(() => process.kill(pid, 0)).to.throw('ESRCH');
    expect((await send(receiver.url)).error).to.match(/^The sender of webhooks failed/);
    await receiver.close();
  });
});
