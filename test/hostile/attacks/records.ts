import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';
import { publish } from './workflows.js';

/** Records: types, values, filters, bulk, pages. */

const mebibyte = 1024 * 1024;
const textOf = (value: unknown): string => JSON.stringify(value);

async function makeType(attacker: Attacker, fields?: readonly object[]): Promise<string> {
  const name = `t-${attacker.stamp}-${attacker.next()}`;
  return attacker.makeId(
    '/v1/mobjects',
    { name, ...(fields ? { fields } : {}) },
    attacker.loot.hoardId,
  );
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_each, index) => make(index));

const filterOf = (text: string): string => `filter=${encodeURIComponent(text)}`;

export const recordAttacks: readonly Attack[] = [
  {
    name: 'filter: in with 1,990 values over an array of 20,000',
    operations: ['listRecords'],
    isShort: true,
    async run(attacker) {
      const id = await makeType(attacker);
      const path = `/v1/mobjects/${id}/mdata`;
      await attacker.make(path, { data: { a: times(20_000, (index) => index) } });
      const values = times(800, (index) => `v${index}`).join(',');
      await attacker.flood(() => ({ path: `${path}?${filterOf(`a:in:${values}`)}` }));
    },
  },
  {
    name: 'filter: twenty deep paths over 20,000 records',
    operations: ['listRecords'],
    isShort: true,
    async run(attacker) {
      const deep = times(60, (index) => `p${index}`).join('.');
      const filters = times(20, (index) => filterOf(`${deep}.q${index}:ne:x`)).join('&');
      const path = `/v1/mobjects/${attacker.loot.hoardId}/mdata?${filters}&limit=1000&offset=19000`;
      await attacker.flood(() => ({ path: `${path}&sort=tags:desc` }));
    },
  },
  {
    name: 'filter: contains with 3,900 characters, twenty times',
    async run(attacker) {
      const filters = times(4, (index) => filterOf(`name:contains:${'r%_'.repeat(1_200)}${index}`));
      const path = `/v1/mobjects/${attacker.loot.hoardId}/mdata?${filters.join('&')}`;
      await attacker.flood(() => ({ path }));
    },
  },
  {
    name: 'search by POST with the most values and paths',
    async run(attacker) {
      const filter = times(20, (index) => {
        return `n:in:${times(700, (each) => each * 20 + index).join(',')}`;
      });
      const body = textOf({ filter, sort: 'name:desc', limit: 1_000, offset: 10_000 });
      await attacker.flood(() => ({
        path: `/v1/mobjects/${attacker.loot.hoardId}/mdata/search`,
        method: 'POST',
        body,
      }));
    },
  },
  {
    name: 'record type of 500 fields with 1,000 values each',
    operations: ['createRecordType', 'updateRecordType'],
    async run(attacker) {
      const values = times(450, (index) => `v${index}`);
      const fields = times(250, (index) => ({ name: `f${index}`, type: 'string', values }));
      const id = await makeType(attacker, fields);
      const body = textOf({ fields });
      await attacker.flood(() => ({ path: `/v1/mobjects/${id}`, method: 'PUT', body }));
    },
  },
  {
    name: 'bulk: 158 KB of values against the most allowed values',
    operations: ['createRecords'],
    isShort: true,
    async run(attacker) {
      const values = times(1_000, (index) => `${'long value '.repeat(8)}${index}`);
      const fields = times(10, (index) => ({ name: `f${index}`, type: 'string', values }));
      const id = await makeType(attacker, fields);
      const record = Object.fromEntries(times(10, (index) => [`f${index}`, values.at(-1)]));
      const body = textOf({ data: times(1_500, () => record) });
      await attacker.flood(
        () => ({ path: `/v1/mobjects/${id}/mdata/bulk`, method: 'POST', body }),
        24,
      );
    },
  },
  {
    name: 'bulk: 15 MiB of numbers, in parallel',
    operations: ['createRecords'],
    isShort: true,
    async run(attacker) {
      const id = await makeType(attacker);
      const data = times(150, () => ({ a: times(30_000, (index) => index % 10) }));
      let body = textOf({ data });
      body = body.length > 15 * mebibyte ? textOf({ data: data.slice(0, 100) }) : body;
      const whole = Buffer.from(body);
      await attacker.flood(
        () => ({ path: `/v1/mobjects/${id}/mdata/bulk`, method: 'POST', body: whole }),
        24,
      );
    },
  },
  {
    name: 'bulk: 10,000 records of many keys, in parallel',
    operations: ['createRecords'],
    async run(attacker) {
      const id = await makeType(attacker);
      const data = times(10_000, (index) =>
        Object.fromEntries(times(60, (key) => [`k${key}`, `${index}`])),
      );
      const body = Buffer.from(textOf({ data: data.slice(0, 10_000) }).slice(0));
      await attacker.flood(
        () => ({ path: `/v1/mobjects/${id}/mdata/bulk`, method: 'POST', body }),
        24,
      );
    },
  },
  {
    name: 'bulk: 10,000 records with 50 unique fields',
    operations: ['createRecords'],
    async run(attacker) {
      const fields = times(50, (index) => ({ name: `u${index}`, type: 'string', unique: true }));
      const id = await makeType(attacker, fields);
      await attacker.repeat(() => {
        const number = attacker.next();
        const data = times(3_000, (index) =>
          Object.fromEntries(times(50, (key) => [`u${key}`, `${number}-${index}`])),
        );
        return attacker.send({
          path: `/v1/mobjects/${id}/mdata/bulk`,
          method: 'POST',
          body: textOf({ data }),
        });
      }, 6);
    },
  },
  {
    name: 'records of 495,000 values, made, changed and deleted with their types',
    operations: ['createRecord', 'updateRecord', 'deleteRecordType'],
    async run(attacker) {
      // A body may have 200,000.
      const list = times(165_000, (index) => index % 10);
      const bodies = ['a', 'b', 'c'].map((name) => textOf({ data: { [name]: list } }));
      await attacker.repeat(async () => {
        const id = await makeType(attacker);
        const path = `/v1/mobjects/${id}/mdata`;
        const [first = '', ...others] = bodies;
        const made = await attacker.send({ path, method: 'POST', body: first });
        const { id: recordId = '' } = (made.status === 201 ? JSON.parse(made.text) : {}) as {
          id?: string;
        };
        for (const body of others) {
          await attacker.send({ path: `${path}/${recordId}`, method: 'PUT', body });
        }
        await attacker.send({ path: `/v1/mobjects/${id}?force=true`, method: 'DELETE' });
      }, 8);
    },
  },
  {
    name: 'pages of 1,000 records of 900 KB',
    operations: ['listRecords'],
    isShort: true,
    async run(attacker) {
      const id = await makeType(attacker);
      const text = 'r'.repeat(900_000);
      for (let count = 0; count < 60 && !attacker.isOver(); count += 1) {
        await attacker.make(`/v1/mobjects/${id}/mdata`, { data: { text } });
      }
      await attacker
        .query(
          `insert into record select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
         from record r, generate_series(1, 8) where r.mobject_id = '${id}'`,
        )
        .catch(() => []);
      await attacker.flood(() => ({ path: `/v1/mobjects/${id}/mdata?limit=1000` }));
    },
  },
  {
    name: 'records nested as deep as can be, changed',
    operations: ['createRecord', 'updateRecord'],
    async run(attacker) {
      const id = await makeType(attacker);
      const deep = `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`;
      const body = `{"data":{${times(2_500, (index) => `"k${index}":${deep}`).join(',')}}}`;
      const made = await attacker.send({ path: `/v1/mobjects/${id}/mdata`, method: 'POST', body });
      const { id: recordId = '' } = (made.status === 201 ? JSON.parse(made.text) : {}) as {
        id?: string;
      };
      await attacker.flood(() => ({
        path: `/v1/mobjects/${id}/mdata/${recordId}`,
        method: 'PUT',
        body,
      }));
    },
  },
  {
    name: 'records nested as deep as can be, listened for and started by',
    async run(attacker) {
      const id = await makeType(attacker);
      const made = { with: { type: 'mdata.created' } };
      const tasks = [{ hear: { listen: { to: { one: made }, timeout: 'PT60S' } } }];
      const [listening] = await Promise.all([
        publish(attacker, tasks),
        publish(attacker, [{ kept: { set: { data: '${ input }' } } }], {
          schedule: { on: { one: made } },
        }),
      ]);
      const deep = `{"data":${'{"a":'.repeat(62)}{}${'}'.repeat(62)}}`;
      await attacker.flood((index) =>
        index % 4 === 0
          ? { path: `/v1/workflows/${listening}/execute`, method: 'POST', body: '{"async":true}' }
          : { path: `/v1/mobjects/${id}/mdata`, method: 'POST', body: deep },
      );
    },
  },
  {
    name: 'record type changed while it holds 20,000 records',
    operations: ['updateRecordType'],
    async run(attacker) {
      const path = `/v1/mobjects/${attacker.loot.hoardId}`;
      const field = (name: string) => ({ name, type: 'string', unique: true });
      await attacker.flood((index) => ({
        path,
        method: 'PUT',
        body: textOf({
          fields: [
            { name: 'n', type: 'number' },
            field('name'),
            { name: 'tags', type: 'array' },
            field(`x${index}`),
          ],
        }),
      }));
    },
  },
  {
    name: 'deletion of record types with 10,000 records',
    operations: ['deleteRecordType'],
    async run(attacker) {
      const data = times(10_000, (index) => ({ n: index }));
      const body = textOf({ data });
      await attacker.repeat(async () => {
        const id = await makeType(attacker);
        await attacker.send({ path: `/v1/mobjects/${id}/mdata/bulk`, method: 'POST', body });
        await attacker.send({ path: `/v1/mobjects/${id}?force=true`, method: 'DELETE' });
      }, 8);
    },
  },
];
