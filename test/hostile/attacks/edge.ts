import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { setTimeout as wait } from 'node:timers/promises';
import { serviceIdOf } from '../../support/servers/fill.js';
import type { Attack } from '../attack.js';
import { crowd, type Attacker } from '../attacker.js';

/** What can be done to HTTP itself, with and without a token. */

const mebibyte = 1024 * 1024;

async function* chunks(bytes: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, 'a');
  for (let sent = 0; sent < bytes; sent += chunk.length) yield await Promise.resolve(chunk);
}

const usagePath = '/v1/ingest/usage';

/** A request of one byte each time, so that it never ends. */
function trickled(name: string, head: (attacker: Attacker) => string): Attack {
  return {
    name,
    async run(attacker) {
      const sockets = Array.from({ length: 400 }, () => attacker.socket(head(attacker)));
      while (!attacker.isOver()) {
        for (const socket of sockets) if (socket.writable) socket.write('a');
        await wait(100);
      }
    },
  };
}

export const edgeAttacks: readonly Attack[] = [
  trickled('slow headers', () => 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: '),
  trickled('slow bodies', (attacker) =>
    attacker.head('POST', usagePath, ['Content-Length: 1000000']),
  ),
  {
    name: 'chunked bodies of 12 MiB',
    isShort: true,
    async run(attacker) {
      await attacker.repeat(() =>
        attacker.send({
          path: usagePath,
          method: 'POST',
          body: Readable.from(chunks(12 * mebibyte)),
        }),
      );
    },
  },
  {
    // The rest of a refused body must not stand before the next request of the connection.
    name: 'chunked body above the limit, then a GET on the connection',
    async run(attacker) {
      const large = `200000\r\n${'a'.repeat(2 * mebibyte)}\r\n0\r\n\r\n`;
      await attacker.repeat(
        () =>
          new Promise<void>((resolve) => {
            const head = attacker.head('POST', usagePath, ['Transfer-Encoding: chunked']);
            const socket = attacker.socket(head + large + attacker.head('GET', '/healthz'));
            socket.setTimeout(2_000, () => socket.destroy());
            socket.once('close', () => resolve());
            setTimeout(() => socket.destroy(), 1_000);
          }),
        12,
      );
    },
  },
  {
    name: '2,000 idle connections',
    async run(attacker) {
      for (let count = 0; count < 2_000 && !attacker.isOver(); count += 1) {
        attacker.socket('');
        if (count % 100 === 99) await wait(20);
      }
      await attacker.untilOver();
    },
  },
  {
    name: '2,000 connections with half a request',
    async run(attacker) {
      for (let count = 0; count < 2_000 && !attacker.isOver(); count += 1) {
        attacker.socket('POST /v1/ingest/usage HTTP/1.1\r\nHost: localhost\r\nContent-');
        if (count % 100 === 99) await wait(20);
      }
      await attacker.untilOver();
    },
  },
  {
    name: 'headers of 32 KiB',
    async run(attacker) {
      const headers = Object.fromEntries(
        Array.from({ length: 30 }, (_each, index) => [`x-bomb-${index}`, 'b'.repeat(1_000)]),
      );
      await attacker.flood(() => ({ path: '/healthz', headers, token: null }));
    },
  },
  {
    name: 'headers of 1 MiB that never end',
    async run(attacker) {
      const line = `X-Bomb: ${'b'.repeat(15_000)}\r\n`;
      const head = `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${line.repeat(66)}`;
      for (let count = 0; count < 300 && !attacker.isOver(); count += 1) {
        attacker.socket(head);
        if (count % 20 === 19) await wait(20);
      }
      await attacker.untilOver();
    },
  },
  {
    name: '2,000 header lines',
    async run(attacker) {
      const head = attacker.head(
        'GET',
        '/healthz',
        Array.from({ length: 1_900 }, (_each, index) => `A${index}: b`),
      );
      await attacker.repeat(
        () =>
          new Promise<void>((resolve) => {
            const socket = attacker.socket(head, () => socket.destroy());
            socket.once('close', () => resolve());
          }),
      );
    },
  },
  {
    name: 'pipelined requests',
    async run(attacker) {
      const many = attacker.head('GET', '/api/v1/external/accounts?size=20').repeat(500);
      await attacker.repeat(
        () =>
          new Promise<void>((resolve) => {
            const socket = attacker.socket(many);
            socket.once('close', () => resolve());
            setTimeout(() => socket.destroy(), 1_500);
          }),
        crowd / 4,
      );
    },
  },
  {
    name: 'requests that are left at once',
    async run(attacker) {
      const head = attacker.head('GET', '/api/v1/external/rated-transactions?page=150&q=zzzz');
      await attacker.repeat(
        () =>
          new Promise<void>((resolve) => {
            const socket = attacker.socket(head);
            socket.once('close', () => resolve());
            setTimeout(() => socket.destroy(), 30);
          }),
      );
    },
  },
  {
    // 1 MiB of gzip may become 1 GiB.
    name: 'gzip bombs',
    isShort: true,
    async run(attacker) {
      const bomb = gzipSync(Buffer.alloc(900 * mebibyte, 'a'), { level: 9 });
      await attacker.flood(() => ({
        path: usagePath,
        method: 'POST',
        body: bomb,
        headers: { 'content-encoding': 'gzip' },
      }));
    },
  },
  {
    name: 'usage of 900 KB, compressed to 1.5, on 400 connections',
    leavesUsage: true,
    async run(attacker) {
      const dimensions = { api_calls: '1', filler: 'u'.repeat(900_000) };
      const message = {
        externalTransactionId: attacker.stamp,
        serviceId: serviceIdOf(1),
        billingAccountRef: 'acct-7',
        eventTimestamp: '2026-10-05T12:00:00Z',
        dimensions,
      };
      const body = gzipSync(JSON.stringify({ key: attacker.stamp, message }));
      await attacker.flood(
        () => ({
          path: usagePath,
          method: 'POST',
          body,
          headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
        }),
        400,
      );
    },
  },
  {
    name: 'paths of 15 KiB',
    findsNothing: true,
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `/api/v1/external/accounts/${'%2e'.repeat(5_000)}${index}`,
      }));
    },
  },
  {
    name: 'query of many parameters',
    async run(attacker) {
      const query = Array.from({ length: 2_000 }, (_each, index) => `a${index}=b`).join('&');
      await attacker.flood(() => ({ path: `/api/v1/external/accounts?${query}` }));
    },
  },
  {
    // The log shows what was asked for and hides what looks like a key.
    name: 'long paths with made-up keys while the database is away',
    judges: 'alive',
    isShort: true,
    async run(attacker) {
      const path = `/v1/usage-events/${'dbk_'.repeat(3_500)}`;
      await attacker.pauseDatabase(() =>
        attacker.flood(() => ({ path, token: `dbk_0123456789abcdef_${'A'.repeat(43)}` })),
      );
    },
  },
  {
    name: 'health checks',
    async run(attacker) {
      await attacker.flood(() => ({ path: '/readyz', token: null }), 200);
    },
  },
  {
    name: 'documents and pages',
    async run(attacker) {
      const paths = ['/openapi.json', '/docs', '/', '/.well-known/oauth-authorization-server'];
      await attacker.flood((index) => ({
        path: paths[index % paths.length] ?? '/',
        token: null,
      }));
    },
  },
  {
    name: 'methods and addresses that lead nowhere',
    findsNothing: true,
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `/v1/${'x/'.repeat(2_000)}${index}`,
        method: index % 2 === 0 ? 'DELETE' : 'OPTIONS',
      }));
    },
  },
];
