import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from '../attack.js';
import type { Answer, Attacker, Request } from '../attacker.js';
import { publish } from './workflows.js';

/** Bodies that are hard to read, each as long as it may be, and what is made of them once they are stored. */

const room = 1_000_000;
const path = '/v1/mobjects';

const sending = (name: string, make: () => string, extra: Partial<Attack> = {}): Attack => ({
  name,
  ...extra,
  async run(attacker: Attacker) {
    const body = make();
    const paths = [path, '/v1/ingest/usage', '/api/v1/external/services', '/mcp'];
    await attacker.flood((index) => ({
      path: paths[index % paths.length] ?? path,
      method: 'POST',
      body,
    }));
  },
});

const repeated = (text: string): string => text.repeat(Math.floor(room / text.length));

/** Objects with as many members as there may be in one. */
const objects = (nameOf: (index: number) => string): string[] =>
  Array.from({ length: 4 }, (_each, part) => {
    const from = part * 16_000;
    const members = Array.from({ length: 16_000 }, (_one, index) => `"${nameOf(from + index)}":1`);
    return `{${members.join(',')}}`;
  });

/** A record, and where it is. */
interface Heavy {
  readonly id: string;
  readonly path: string;
  /** The path of the records of its type. */
  readonly records: string;
}

/** As many of them as one body may have: 200,000 values. */
const nestedMax = 20_000;
/** Lists within lists, 18 characters each: hardly anything else has as many values in as little room. */
const nested = (count: number): string =>
  `[${Array.from({ length: count }, () => '[[[[[[[[1]]]]]]]]').join(',')}]`;
/** A number that is no float has all of what it stands in read digit by digit. */
const exact = '"x":12345678901234567';
/** As many as a mebibyte has room for. */
const wholeRecord = 58_000;

/** Prepares an attack: again where it is refused for now; throws where it is refused for good. */
async function prepare(attacker: Attacker, request: Request): Promise<Answer> {
  for (;;) {
    const answer = await attacker.send(request);
    if (answer.status >= 200 && answer.status < 300) return answer;
    if (![0, 429, 503, 504].includes(answer.status) || attacker.isOver()) {
      throw new Error(`${request.path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    }
    await wait(100);
  }
}

const idOf = ({ text }: Answer): string => (JSON.parse(text) as { id: string }).id;

/** A record of so many nested lists, made of several bodies: a record may have more values than one body. */
async function heavyRecord(attacker: Attacker, count = wholeRecord): Promise<Heavy> {
  const name = `heavy-${attacker.stamp}-${attacker.next()}`;
  const type = await prepare(attacker, {
    path: '/v1/mobjects',
    method: 'POST',
    body: `{"name":"${name}"}`,
  });
  const records = `/v1/mobjects/${idOf(type)}/mdata`;
  // The answer to a long first body would be too long for its id to be read.
  const body = `{"data":{${exact}}}`;
  const id = idOf(await prepare(attacker, { path: records, method: 'POST', body }));
  const path = `${records}/${id}`;
  for (let from = 0; from < count; from += nestedMax) {
    const part = nested(Math.min(nestedMax, count - from));
    await prepare(attacker, { path, method: 'PUT', body: `{"data":{"a${from}":${part}}}` });
  }
  return { id, path, records };
}

/** A short change of a long record. */
const changing = (attacker: Attacker, { path }: Heavy): Request => ({
  path,
  method: 'PUT',
  body: `{"data":{"y":${attacker.next()}}}`,
});

const changed = { type: 'mdata.updated' };
const changedOtherwise = { ...changed, data: '${ data.data.x == "y" }' };

/** Twenty workflows that a change of a record starts; they are deleted behind the attack. */
async function startedBy(attacker: Attacker, event: object): Promise<void> {
  for (let each = 0; each < 20 && !attacker.isOver(); each += 1) {
    const schedule = { on: { one: { with: event } } };
    await publish(attacker, [{ a: { set: { x: 1 } } }], { schedule });
  }
}

/** 199,000 numbers: as many values as a body may have. */
const manyValues = (): Buffer =>
  Buffer.from(`{"data":{"a":[${Array(199_000).fill('1e9').join(',')}]}}`);

/** Nearly half a million values in a thousand records: as many as a bulk body may have. */
const bulkValues = (): Buffer => {
  const one = `{"a":[${Array(480).fill('1e9').join(',')}],"__":0}`;
  return Buffer.from(`{"data":[${Array(1_000).fill(one).join(',')}]}`);
};

/** A record type that is not there. */
const nowhere = '/v1/mobjects/00000000-0000-4000-8000-000000000000/mdata';

/** A key that no other request has. */
const keyed = (attacker: Attacker, index: number): Record<string, string> => ({
  'idempotency-key': `key-${attacker.stamp}-${index}`,
});

const recordAttacks: readonly Attack[] = [
  {
    name: 'JSON: a record of a mebibyte of nested lists, read and changed',
    seconds: 10,
    async run(attacker) {
      const heavy = await heavyRecord(attacker);
      await attacker.flood(
        (index) => (index % 2 === 0 ? { path: heavy.path } : changing(attacker, heavy)),
        4,
      );
    },
  },
  {
    name: 'JSON: changes of a record of a mebibyte, and twenty workflows whose condition is false',
    seconds: 12,
    async run(attacker) {
      const heavy = await heavyRecord(attacker);
      await startedBy(attacker, changedOtherwise);
      await attacker.flood(() => changing(attacker, heavy), 4);
    },
  },
  {
    name: 'JSON: changes of a record of 250 KiB, each of which starts twenty workflows',
    seconds: 15,
    async run(attacker) {
      const heavy = await heavyRecord(attacker, 14_000);
      await startedBy(attacker, changed);
      let changes = 0;
      await attacker.flood(() => {
        changes += 1;
        return changes <= 15 ? changing(attacker, heavy) : { path: heavy.path };
      }, 4);
    },
  },
  {
    name: 'JSON: changes of a record of a mebibyte, and an execution that listens for others',
    seconds: 12,
    async run(attacker) {
      const heavy = await heavyRecord(attacker);
      const to = { any: [{ with: changedOtherwise }] };
      const name = await publish(attacker, [{ hear: { listen: { to } } }]);
      const path = `/v1/workflows/${name}/execute`;
      await prepare(attacker, { path, method: 'POST', body: '{"async":true,"data":{}}' });
      await attacker.flood(() => changing(attacker, heavy), 4);
    },
  },
  {
    name: 'JSON: changes of a record of a mebibyte, of which a webhook is told',
    seconds: 12,
    async run(attacker) {
      const heavy = await heavyRecord(attacker);
      const url = 'https://no-such-host.invalid/x';
      const webhook = { url, events: [changed.type], secret: 's'.repeat(32), active: true };
      const body = JSON.stringify(webhook);
      const made = await prepare(attacker, { path: '/v1/webhooks', method: 'POST', body });
      attacker.afterwards({ path: `/v1/webhooks/${idOf(made)}`, method: 'DELETE' });
      await attacker.flood(() => changing(attacker, heavy), 4);
    },
  },
  {
    name: 'JSON: what is kept of ten changes of a record of a mebibyte',
    operations: ['listAudit'],
    seconds: 12,
    async run(attacker) {
      const heavy = await heavyRecord(attacker);
      for (let each = 0; each < 10; each += 1) await prepare(attacker, changing(attacker, heavy));
      const path = `/v1/audit?id=${heavy.id}`;
      await attacker.flood((index) => ({ path: index % 2 === 0 ? path : `${path}&limit=1000` }), 8);
    },
  },
];

const keyAttacks: readonly Attack[] = [
  {
    name: 'JSON: bulk of half a million values, each time with another key',
    findsNothing: true,
    seconds: 8,
    async run(attacker) {
      const body = bulkValues();
      await attacker.flood(
        (index) => ({
          path: `${nowhere}/bulk`,
          method: 'POST',
          body,
          headers: keyed(attacker, index),
        }),
        4,
      );
    },
  },
  {
    name: 'JSON: records of 199,000 values and of nested lists, each time with another key',
    seconds: 10,
    async run(attacker) {
      const { path, records } = await heavyRecord(attacker, 0);
      const many = manyValues();
      const lists = Buffer.from(`{"data":{${exact},"a":${nested(nestedMax)}}}`);
      await attacker.flood((index) => {
        const headers = keyed(attacker, index);
        // Mostly such that nothing is stored, for then there is time for more.
        if (index % 4 < 2) return { path: nowhere, method: 'POST', body: many, headers };
        if (index % 4 === 2) return { path, method: 'PUT', body: many, headers };
        return { path: records, method: 'POST', body: lists, headers };
      }, 8);
    },
  },
];

const executionAttacks: readonly Attack[] = [
  {
    name: 'JSON: lists of 22 executions with 360 KB of nested lists each',
    seconds: 20,
    async run(attacker) {
      const path = `/v1/workflows/${await publish(attacker, [{ a: { set: { x: 1 } } }])}`;
      const data = `{${exact},"a":${nested(nestedMax)}}`;
      const body = Buffer.from(`{"async":true,"data":${data}}`);
      for (let each = 0; each < 22; each += 1) {
        await prepare(attacker, { path: `${path}/execute`, method: 'POST', body });
      }
      await attacker.flood(() => ({ path: `${path}/executions?limit=100` }), 8);
    },
  },
];

export const jsonAttacks: readonly Attack[] = [
  sending('JSON: half a million open brackets', () => '['.repeat(500_000)),
  sending('JSON: objects nested a hundred thousand deep', () => repeated('{"a":')),
  sending('JSON: a number of a million digits', () => `{"name":${'7'.repeat(room)}}`, {
    isShort: true,
  }),
  sending('JSON: exponents of a million', () => `{"a":[${repeated('1e999999,')}1]}`),
  sending('JSON: exact numbers of 38 digits', () => {
    return `{"a":[${repeated('12345678901234567890.123456789012345678,')}1]}`;
  }),
  sending('JSON: one key a hundred thousand times', () => `{${repeated('"name":1,')}"name":1}`),
  sending('JSON: sixty-four thousand keys', () => {
    return `{"name":"x","fields":[${objects((index) => `k${index}`).join(',')}]}`;
  }),
  sending('JSON: keys that are numbers, descending', () => {
    return `{"key":"x","message":{"a":[${objects((index) => `${4_000_000 - index * 50}`).join(',')}]}}`;
  }),
  sending('JSON: more keys in an object than there may be', () => {
    const keys = Array.from({ length: 70_000 }, (_each, index) => `"k${index}":1`);
    return `{"key":"x","message":{${keys.join(',')}}}`;
  }),
  sending('JSON: special names', () => `{${repeated('"__proto__":{"constructor":1},')}"a":1}`),
  sending('JSON: escapes', () => `{"name":"${repeated('\\u00e9')}"}`),
  sending('JSON: halves of surrogate pairs', () => `{"name":"${repeated('\\ud83d')}"}`),
  sending('JSON: combining characters', () => `{"name":"${'a\u0301\u0323'.repeat(190_000)}"}`),
  sending('JSON: blanks', () => `{"name":"${' '.repeat(room)}"}`),
  sending('JSON: texts that look like dates', () => {
    return `{"name":"${'2026-01-01T00:00:00.'.concat('0'.repeat(room - 100))}Z"}`;
  }),
  ...recordAttacks,
  ...keyAttacks,
  ...executionAttacks,
];
