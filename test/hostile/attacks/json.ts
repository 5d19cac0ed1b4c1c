import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Bodies that are hard to read: each as long as it may be. */

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
];
