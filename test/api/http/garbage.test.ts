import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { defined } from '../../../src/kernel/defined.js';
import type { Operation } from '../../../src/schemas/http/operation.js';
import { errorStatuses } from '../../../src/schemas/http/error-statuses.js';
import { declaredOperations } from '../../support/http/answers.js';
import { badBodies, brokenJson } from '../../support/http/garbage.js';
import { openTestInstance, type TestInstance } from '../../support/servers/instance.js';
import type { Schema } from '../../support/http/places.js';
import { RawConnection } from '../../support/http/raw-connection.js';
import { sendRaw, type RawAnswer } from '../../support/http/raw.js';
import { openPhotographer, type Photographer, type Snapshot } from '../../support/servers/rows.js';
import { bodyIn, buildWorld, pathIn, type World } from '../../support/http/world.js';

const mebibyte = 1024 * 1024;
const json = { 'Content-Type': 'application/json' };

const bombs = new Map<number, Buffer>();

/** That many blanks, zipped. */
function bombOf(bytes: number): Buffer {
  const bomb = bombs.get(bytes) ?? gzipSync(Buffer.alloc(bytes, ' '));
  bombs.set(bytes, bomb);
  return bomb;
}

/**
 * Sends a body to ingestion and reads only then, as Python's urllib does: what comes before, and is
 * followed by a reset, is never read.
 */
function sendWhole(url: string, bytes: number, headers: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(
    `POST /v1/ingest/usage HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n${headers}` +
      `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject).on('close', () => resolve(answer));
    socket.write(Buffer.alloc(bytes, ' '), () => socket.resume());
  });
}

/** The words for people in the error body of any family. */
function messageOf(text: string): string {
  const body = JSON.parse(text) as { message?: string; error?: { message?: string } };
  return body.message ?? body.error?.message ?? '';
}

describe('bad input', () => {
  let instance: TestInstance;
  let world: World;
  let photographer: Photographer;
  let stored: Snapshot;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    world = await buildWorld(await instance.tenant());
    photographer = await openPhotographer(instance.databaseUrl);
    stored = await photographer.take();
  });
  after(async () => {
    await photographer.close();
    await instance.close();
  });

  const send = (
    { method, path }: Operation,
    body: string | Buffer | undefined,
    { headers = json, query = '' }: { headers?: Record<string, string>; query?: string } = {},
  ): Promise<RawAnswer> =>
    sendRaw(instance.url, {
      method,
      path: `${pathIn(world, path)}${query}`,
      headers: { Authorization: `Bearer ${world.tenant.token}`, ...headers },
      ...defined({ body }),
    });
  const rightBody = ({ example = {} }: Operation): object => bodyIn(world, example);

  const expectNothingChanged = async () => {
    expect(await photographer.take(), 'the database').to.deep.equal(stored);
  };
  const expectStatus = (answer: RawAnswer, what: string, ...statuses: number[]) => {
    expect(answer.status, `${what}: ${answer.text.slice(0, 500)}`).to.be.oneOf(statuses);
  };

  for (const operation of declaredOperations.filter(({ body }) => body)) {
    const { id, body, bodyMax = mebibyte, isBodyOptional } = operation;
    const schema = body as unknown as Schema;

    it(`${id} refuses what is no JSON`, async () => {
      // Nothing at all is a body that was left out, where it may be.
      const sent = brokenJson.filter(({ text }) => isBodyOptional !== true || text !== '');
      for (const { what, text } of sent.filter(({ text }) => text.length <= bodyMax)) {
        const answer = await send(operation, text);
        expectStatus(answer, what, 400);
        expect(messageOf(answer.text), what).to.match(/\S/);
      }
      await expectNothingChanged();
    });

    // spec/resources.md R16
    it(`${id} refuses what does not fit, and names it`, async () => {
      const faults: string[] = [];
      for (const { what, text, field } of badBodies(schema, rightBody(operation))) {
        if (text.length > bodyMax) continue;
        const answer = await send(operation, text);
        const isNamed = field === undefined || messageOf(answer.text).includes(field);
        if (answer.status !== 400 || !isNamed) {
          faults.push(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`);
        }
      }
      expect(faults).to.deep.equal([]);
      await expectNothingChanged();
    });

    // spec/gateway.md R7
    it(`${id} refuses bodies that cannot be read`, async () => {
      const text = JSON.stringify(rightBody(operation));
      const zipped = gzipSync(text);
      const encoded = (encoding: string) => ({ ...json, 'Content-Encoding': encoding });
      const typed = (type: string) => ({ 'Content-Type': type });
      const cases: [string, string | Buffer, Record<string, string>, number][] = [
        ['no content type', text, {}, 400],
        ['plain text', text, typed('text/plain'), 400],
        ['a form', 'name=x', typed('application/x-www-form-urlencoded'), 400],
        ['a multipart form', '--x--\r\n', typed('multipart/form-data; boundary=x'), 400],
        ['a content type that is none', text, typed('nonsense'), 400],
        ['an unknown charset', text, typed('application/json; charset=nonsense'), 400],
        ['no gzip in gzip', text, encoded('gzip'), 400],
        ['half a gzip', zipped.subarray(0, zipped.length >> 1), encoded('gzip'), 400],
        ['no deflate in deflate', text, encoded('deflate'), 400],
        ['no brotli in br', text, encoded('br'), 400],
        ['an unknown encoding', text, encoded('nonsense'), 400],
        ['one byte too many', text + ' '.repeat(bodyMax + 1 - Buffer.byteLength(text)), json, 413],
        ['a bomb', bombOf(bodyMax + 7 * mebibyte), encoded('gzip'), 413],
      ];
      for (const [what, content, headers, status] of cases) {
        expectStatus(await send(operation, content, { headers }), what, status);
      }
      // A letter a, an accented one in ISO 8859-1, and one that UTF-8 would write shorter.
      for (const bytes of [
        [0x61, 0xe4],
        [0xc0, 0xaf],
      ]) {
        const content = Buffer.from(
          text.replace('"', `"${String.fromCharCode(...bytes)}`),
          'latin1',
        );
        const answer = await send(operation, content);
        expectStatus(answer, 'no UTF-8', 400);
        expect(messageOf(answer.text)).to.equal('The request body is not valid UTF-8.');
      }
      await expectNothingChanged();
    });
  }

  it('of 20 MiB is answered also where the connection ends with the answer', async () => {
    const authorized = `Authorization: Bearer ${world.tenant.token}\r\n`;
    for (const [headers, status] of [
      ['', 401],
      [authorized, 413],
    ] as const) {
      const answer = await sendWhole(instance.url, 20 * mebibyte, headers);
      expect(answer.split('\r\n')[0]).to.match(new RegExp(`^HTTP/1.1 ${status} `));
    }
  });

  for (const operation of declaredOperations.filter(({ query }) => query)) {
    const { id, query } = operation;
    const names = Object.keys(query?.properties ?? {});
    const refused = (name: string): readonly string[] => {
      const schema = (query?.properties[name] ?? {}) as Schema;
      const minimum = (schema['wholeNumber'] as { minimum: number } | undefined)?.minimum;
      if (minimum !== undefined) {
        const numbers = ['-1', '1.5', 'abc', '', '1e3', '0x1', ' 1', '99999999999999'];
        return minimum > 0 ? [...numbers, '0'] : numbers;
      }
      if ('flag' in schema) return ['yes', '1', '', 'TRUE'];
      if (schema['format'] === 'uuid') return ['abc', ''];
      if (schema['format'] === 'calendar-date') return ['2026-02-30', 'today', ''];
      if ('const' in schema || 'enum' in schema) return ['nonsense', ''];
      return typeof schema['maxLength'] === 'number' ? ['x'.repeat(schema['maxLength'] + 1)] : [];
    };

    it(`${id} refuses bad query parameters, and names them`, async () => {
      const faults: string[] = [];
      for (const name of names) {
        const bad = refused(name).map((value) => `?${name}=${encodeURIComponent(value)}`);
        for (const text of [...bad, `?${name}=%00`, `?${name}=1&${name}=2`]) {
          const answer = await send(operation, undefined, { query: text });
          if (answer.status !== 400 || !messageOf(answer.text).includes(name)) {
            faults.push(`${text.slice(0, 80)}: ${answer.status} ${answer.text.slice(0, 200)}`);
          }
        }
      }
      expect(faults).to.deep.equal([]);
      await expectNothingChanged();
    });

    if (operation.method !== 'GET') continue;
    it(`${id} answers to strange queries`, async () => {
      const strange = [
        '?%',
        '?%zz=%zz',
        '?__proto__=1',
        '?a[b]=1',
        '?&&&',
        `?${'x'.repeat(5_000)}`,
      ];
      for (const text of strange) {
        const answer = await send(operation, undefined, { query: text });
        expectStatus(answer, text.slice(0, 40), 200, 400);
      }
    });
  }

  const inPath = declaredOperations.filter(({ path }) => path.includes('{'));
  for (const operation of inPath) {
    // spec/resources.md R20
    it(`${operation.id} finds nothing at a bad address`, async () => {
      const bad = ['%', '%zz', '%c0%af', '%00', 'a%00b', '..%2f..', "'%20or%201=1", '%F0%9F%92%A9'];
      for (const [placeholder] of operation.path.matchAll(/\{\w+\}/g)) {
        for (const value of [...bad, 'x'.repeat(5_000)]) {
          // What is in the other places is right.
          const path = pathIn(world, operation.path.replace(placeholder, 'BAD')).replace(
            'BAD',
            value,
          );
          const answer = await sendRaw(instance.url, {
            method: operation.method,
            path,
            headers: { Authorization: `Bearer ${world.tenant.token}`, ...json },
            ...(operation.body ? { body: JSON.stringify(rightBody(operation)) } : {}),
          });
          expectStatus(answer, path.slice(0, 200), 400, 404);
        }
      }
      await expectNothingChanged();
    });
  }

  it('more than 500 query parameters are refused before they are parsed, also without a token', async () => {
    const addressOf = (count: number): string =>
      `${instance.url}/v1/picklists?${Array.from({ length: count }, (_each, at) => `p${at}`).join('&')}`;
    const many = await fetch(addressOf(501));
    expect(many.status).to.equal(400);
    expect(await many.text()).to.include('The address has more than 500 query parameters.');
    // Who is not known is told so first where they are few enough to be looked at.
    expect((await fetch(addressOf(500))).status).to.equal(401);
  });

  it('an address whose scheme and host are none is its path', async () => {
    const statusOf = async (address: string): Promise<number | undefined> => {
      const connection = new RawConnection(instance.url);
      connection.send(`GET ${address} HTTP/1.1\r\nHost: here\r\n\r\n`);
      const answer = await connection.answer();
      connection.socket.destroy();
      return answer?.status;
    };
    for (const host of ['', '[::', 'a:b:c', 'here']) {
      expect(await statusOf(`http://${host}/healthz`), host).to.equal(200);
      expect(await statusOf(`HTTP://${host}/v1/picklists?limit=1`), host).to.equal(401);
      expect(await statusOf(`http://${host}`), host).to.equal(200);
    }
  });

  it('a body that lies about its length is no request', async () => {
    const { hostname, port } = new URL(instance.url);
    const exchange = (head: readonly string[], body: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        const socket = connect({ host: hostname, port: Number(port) }, () => {
          socket.end([...head, '', body].join('\r\n'));
        });
        socket.on('data', (chunk) => chunks.push(chunk));
        socket.on('error', reject);
        socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
      });
    const head = [
      'POST /api/v1/external/accounts HTTP/1.1',
      `Host: ${hostname}`,
      `Authorization: Bearer ${world.tenant.token}`,
      'Content-Type: application/json',
    ];
    const body = '{"name":"Liar"}';
    for (const lie of ['Content-Length: 1000', 'Content-Length: 5', 'Content-Length: -1']) {
      const answer = await exchange([...head, lie], body);
      expect(answer, lie).to.match(/^$|^HTTP\/1\.1 400 /);
    }
    const both = [...head, 'Content-Length: 15', 'Transfer-Encoding: chunked'];
    expect(await exchange(both, body)).to.match(/^HTTP\/1\.1 400 /);
    await expectNothingChanged();
  });

  describe('at the edge of what is allowed', () => {
    for (const operation of declaredOperations.filter(({ body }) => body)) {
      it(`${operation.id} reads a body that is as large as may be`, async () => {
        const text = JSON.stringify(rightBody(operation));
        const { bodyMax = mebibyte } = operation;
        const padded = text + ' '.repeat(bodyMax - Buffer.byteLength(text));
        const answer = await send(operation, padded);
        const documented = [operation.success.status, ...errorStatuses(operation)];
        expectStatus(answer, 'the largest', ...documented.filter((status) => status !== 413));
      });

      it(`${operation.id} answers to duplicate keys and bytes that are no UTF-8`, async () => {
        const text = JSON.stringify(rightBody(operation));
        const [first = 'name'] = Object.keys(rightBody(operation));
        const cases = [
          text.replace(/^\{/, `{${JSON.stringify(first)}:1,${JSON.stringify(first)}:1E5,`),
          text.replace(/^\{/, '{"__proto__":null,'),
          Buffer.concat([
            Buffer.from(text.slice(0, -1)),
            Buffer.from([0xff, 0xfe]),
            Buffer.from('}'),
          ]),
          `\ufeff${text}`,
        ];
        // The client of `send` fails on any status that is not documented, such as 500.
        for (const body of cases) expect((await send(operation, body)).status).to.be.below(500);
      });
    }
  });
});
