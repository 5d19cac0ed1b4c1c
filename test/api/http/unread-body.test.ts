import { expect } from 'chai';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { RawConnection } from '../../support/http/raw-connection.js';

const mebibyte = 1024 * 1024;
const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describe('bodies that are not read', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let viewer = '';
  let opened: RawConnection[] = [];
  before(async () => {
    instance = await openTestInstance({ ingestEventsPerMinute: 1 });
    tenant = await instance.tenant();
    viewer = await instance.token(tenant.id, ['VIEWER']);
    // The one event of this minute.
    await tenant.post('/v1/ingest/usage', { message: { externalTransactionId: '1' } }).expect(200);
  });
  after(() => instance.close());
  afterEach(() => {
    for (const connection of opened) connection.close();
    opened = [];
  });

  const open = (): RawConnection => {
    const connection = new RawConnection(instance.url);
    opened.push(connection);
    return connection;
  };
  const head = (target: string, bearer: string | null, more: string): string =>
    `${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
    `${bearer === null ? '' : `Authorization: Bearer ${bearer}\r\n`}${more}\r\n\r\n`;
  const chunked = 'Transfer-Encoding: chunked';

  /** What is asked on the same connection afterwards is answered, or the connection has ended. */
  const expectGoesOn = async (connection: RawConnection, headOfAnswer: string): Promise<void> => {
    connection.send(next);
    const answer = await connection.answer(8_000);
    if (/connection: close/i.test(headOfAnswer)) expect(answer).to.equal(undefined);
    else if (answer) expect(answer.status).to.equal(200);
  };

  type Refusal = [status: number, target: string, bearer: () => string | null];
  const refusals: Refusal[] = [
    [413, 'POST /v1/ingest/usage', () => tenant.token],
    [413, 'POST /v1/mobjects/order/mdata/bulk', () => tenant.token],
    [413, 'POST /mcp', () => tenant.token],
    [413, 'POST /api/oauth/per-user/token', () => null],
    [401, 'POST /v1/ingest/usage', () => null],
    [401, 'POST /v1/ingest/usage', () => 'dbk_0123456789abcdef_x'],
    [401, 'POST /mcp', () => null],
    [403, 'POST /v1/mobjects', () => viewer],
    [404, 'POST /nowhere', () => tenant.token],
    [404, 'POST /v1/nowhere', () => null],
    [405, 'PATCH /v1/mobjects', () => tenant.token],
    [404, 'POST /api/oauth/per-user/register', () => null],
    [200, 'GET /healthz', () => null],
  ];
  for (const [status, target, bearer] of refusals) {
    // Of the bulk 16 MiB are read before it is too large.
    for (const bytes of target.endsWith('bulk') ? [18 * mebibyte] : [2 * mebibyte, 12 * mebibyte]) {
      it(`${status} is answered to ${target} with ${bytes / mebibyte} MiB in chunks`, async () => {
        const connection = open();
        const isForm = target.endsWith('token');
        const text = head(target, bearer(), chunked);
        connection.send(
          isForm ? text.replace('application/json', 'application/x-www-form-urlencoded') : text,
        );
        void connection.sendChunks(bytes);
        const answer = await connection.answer(8_000);
        expect(answer?.status).to.equal(status);
        await expectGoesOn(connection, answer?.head ?? '');
      });
    }
  }

  const unread = refusals.filter(([status]) => status !== 413);
  it('do not hold back any answer while they have only begun, and end the connection', async () => {
    const all = unread.map(async ([status, target, bearer]) => {
      const connection = open();
      connection.send(head(target, bearer(), chunked));
      const drip = setInterval(() => connection.send('1\r\nx\r\n'), 200);
      try {
        const answer = await connection.answer();
        expect(answer?.status, target).to.equal(status);
        expect(answer?.head).to.match(/connection: close/i);
        await connection.closed();
      } finally {
        clearInterval(drip);
      }
    });
    await Promise.all(all);
  });

  it('let a connection go on where they are short', async () => {
    for (const [status, target, bearer] of unread) {
      const connection = open();
      connection.send(head(target, bearer(), 'Content-Length: 1000'));
      const answer = await connection.answer().catch((error: unknown) => {
        throw new Error(target, { cause: error });
      });
      expect(answer?.status, target).to.equal(status);
      expect(answer?.head).not.to.match(/connection: close/i);
      connection.send('x'.repeat(1000));
      connection.send(next);
      const after = await connection.answer().catch((error: unknown) => {
        throw new Error(`after ${target}`, { cause: error });
      });
      expect(after?.status).to.equal(200);
    }
  });

  it('that were announced and do not come end the connection', async () => {
    const connection = open();
    connection.send(head('POST /v1/ingest/usage', null, 'Content-Length: 1000'));
    expect((await connection.answer())?.status).to.equal(401);
    await connection.closed();
  });

  it('are refused with 429 where the limit is known before them, and with 413 else', async () => {
    const connection = open();
    const body = JSON.stringify({ message: { externalTransactionId: '2' } });
    connection.send(head('POST /v1/ingest/usage', tenant.token, `Content-Length: ${body.length}`));
    connection.send(body + next);
    expect((await connection.answer())?.status).to.equal(429);
    expect((await connection.answer())?.status).to.equal(200);
  });

  it('that drip are refused before they are a minute old, and their connection ends', async () => {
    const connection = open();
    const since = performance.now();
    connection.send(head('POST /v1/ingest/usage', tenant.token, chunked));
    const drip = setInterval(() => connection.send('1\r\n \r\n'), 100);
    try {
      const answer = await connection.answer(25_000);
      expect(answer?.status).to.equal(400);
      expect(answer?.body).to.include('too slowly');
      await connection.closed();
      expect(performance.now() - since).to.be.below(30_000);
    } finally {
      clearInterval(drip);
    }
  }).timeout(120_000);

  it('end a connection of which a second request was sent before the first was answered', async () => {
    const connection = open();
    connection.send(head('POST /nowhere', null, chunked));
    connection.send('1\r\nx\r\n');
    expect((await connection.answer())?.status).to.equal(404);
    connection.send(`0\r\n\r\n${next}`);
    expect(await connection.answer()).to.equal(undefined);
  });

  it('are read no faster than 32 MiB in a second, whoever sends them, and all are answered', async () => {
    const since = performance.now();
    const length = `Content-Length: ${4 * mebibyte}`;
    const request = head('POST /v1/ingest/usage', tenant.token, length) + 'a'.repeat(4 * mebibyte);
    const connections = Array.from({ length: 16 }, open);
    for (const connection of connections) connection.send(request);
    for (const connection of connections)
      expect((await connection.answer(8_000))?.status).to.equal(413);
    for (const connection of connections) await connection.closed();
    // 64 MiB, of which some were read before the answer.
    expect(performance.now() - since).to.be.greaterThan(1_000);
  });
});

describe('what is no request', () => {
  let instance: TestInstance;
  before(async () => {
    instance = await openTestInstance();
  });
  after(() => instance.close());

  const answerTo = async (...parts: string[]) => {
    const connection = new RawConnection(instance.url);
    for (const part of parts) connection.send(part);
    const answer = await connection.answer(8_000);
    await connection.closed();
    return answer;
  };

  const long = (bytes: number): string => `X-Long: ${'x'.repeat(bytes)}\r\n`;
  const cases: [name: string, parts: string[], status: number, text: string][] = [
    [
      'headers of more than 32 KiB',
      ['GET /v1/mobjects HTTP/1.1\r\nHost: x\r\n', long(40_000), '\r\n'],
      431,
      'HEADERS_TOO_LARGE',
    ],
    [
      'headers of 2 MiB',
      ['GET /accounts HTTP/1.1\r\nHost: x\r\n', ...Array.from({ length: 32 }, () => long(65_536))],
      431,
      'Request Header Fields Too Large',
    ],
    [
      'an address of 40,000 characters',
      [`GET /api/v1/external/accounts?q=${'x'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
      431,
      '"path":"uri=/api/v1/external/accounts"',
    ],
    ['nonsense', ['nonsense\r\n\r\n'], 400, 'no request'],
    [
      'no host',
      ['GET /v1/mobjects HTTP/1.1\r\nConnection: close\r\n', '\r\n'],
      400,
      'names its host',
    ],
    [
      'no host, of a body that is not sent',
      ['POST /accounts HTTP/1.1\r\nContent-Length: 90000\r\n', 'Connection: close\r\n\r\n'],
      400,
      'names its host',
    ],
    [
      'an expectation',
      ['GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a lot\r\n', 'Connection: close\r\n\r\n'],
      417,
      '{}',
    ],
  ];
  for (const [name, parts, status, text] of cases) {
    it(`is answered with ${status}: ${name}`, async () => {
      const answer = await answerTo(...parts);
      expect(answer?.status).to.equal(status);
      expect(answer?.head).to.match(/connection: close/i);
      expect(answer?.head).to.match(/x-content-type-options: nosniff/i);
      expect(answer?.head).to.match(/cache-control: no-store/i);
      expect(answer?.body).to.include(text);
      JSON.parse(answer?.body ?? '');
    });
  }

  it('does not begin with headers of less than 32 KiB', async () => {
    const connection = new RawConnection(instance.url);
    connection.send(`GET /healthz HTTP/1.1\r\nHost: x\r\n${long(31_000)}\r\n`);
    expect((await connection.answer())?.status).to.equal(200);
    connection.close();
  });

  it('is answered with 408 where headers do not come to an end', async () => {
    const connection = new RawConnection(instance.url);
    connection.send('GET /healthz HTTP/1.1\r\n');
    const drip = setInterval(() => connection.send('X: y\r\n'), 500);
    try {
      const answer = await connection.answer(25_000);
      expect(answer?.status).to.equal(408);
      await connection.closed();
    } finally {
      clearInterval(drip);
    }
  }).timeout(120_000);
});
