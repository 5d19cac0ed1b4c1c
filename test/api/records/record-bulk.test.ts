import { expect } from 'chai';
import { allStatements } from '../../support/servers/instance.js';
import { makeRecordType } from '../../support/billing/records.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

interface Entry {
  readonly id?: string;
  readonly data?: object;
  readonly index?: number;
  readonly error?: { code: string; message: string; details: object; timestamp: string };
}

describe('bulk creation of records', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let path: string;
  before(async () => {
    ({ path } = await makeRecordType(tenant, [
      { name: 'name', type: 'string', required: true },
      { name: 'email', type: 'string', unique: true },
      { name: 'code', type: 'number', unique: true },
      { name: 'since', type: 'date' },
    ]));
  });

  const bulk = async (data: readonly unknown[], at = path) => {
    const { body } = await tenant.post(`${at}/bulk`, { data }).expect(200);
    return body as {
      success: boolean;
      totalProcessed: number;
      created: number;
      failed: number;
      data: Entry[];
    };
  };
  const total = async (at = path): Promise<number> =>
    (await tenant.get(`${at}?limit=1`).expect(200)).body.pagination.total;

  // spec/platform.md R31
  it('stores all of them, in order', async () => {
    const objects = [
      { name: 'a', code: 1 },
      { name: 'b', email: 'b@x.org' },
    ];
    const { data, ...counts } = await bulk(objects);
    expect(counts).to.deep.equal({ success: true, totalProcessed: 2, created: 2, failed: 0 });
    expect(data.map((entry) => entry.data)).to.deep.equal(objects);
    for (const entry of data) {
      const read = await tenant.get(`${path}/${entry.id ?? ''}`).expect(200);
      expect(read.body).to.deep.equal(entry);
    }
    const listed = await tenant.get(path).expect(200);
    expect(listed.body.data).to.deep.equal(data);
  });

  // spec/platform.md R31
  it('reports in its place what is wrong with one, and stores the others', async () => {
    const before = await total();
    const { data, ...counts } = await bulk([
      { name: 'right' },
      { email: 'no-name@x.org' },
      7,
      { name: 'unknown', colour: 'red' },
      { name: 'first', email: 'twice@x.org', code: 70 },
      { name: 'second', email: 'twice@x.org', code: 71 },
      // The code of the second is free, because the second was not stored.
      { name: 'third', code: 71 },
      { name: 'taken before', email: 'b@x.org' },
      null,
      { name: 'date', since: '2026-02-30' },
    ]);
    expect(counts).to.deep.equal({ success: false, totalProcessed: 10, created: 3, failed: 7 });
    expect(data.map((entry) => entry.error?.code ?? 'stored')).to.deep.equal([
      'stored',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
      'stored',
      'CONFLICT',
      'stored',
      'CONFLICT',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
    ]);
    data.forEach((entry, index) => {
      if (entry.error) expect(entry.index).to.equal(index);
    });
    expect(data.map((entry) => entry.error?.details)).to.deep.equal([
      undefined,
      { field: 'name', value: null },
      { field: 'data', value: 7 },
      { field: 'colour', value: 'red' },
      undefined,
      { field: 'email', value: 'twice@x.org' },
      undefined,
      { field: 'email', value: 'b@x.org' },
      { field: 'data', value: null },
      { field: 'since', value: '2026-02-30' },
    ]);
    expect(await total()).to.equal(before + 3);
  });

  it('of none is a success', async () => {
    expect(await bulk([])).to.deep.equal({
      success: true,
      totalProcessed: 0,
      created: 0,
      failed: 0,
      data: [],
    });
  });

  it('of the same values at the same time stores each once, in whatever order', async () => {
    const type = await makeRecordType(tenant, [
      { name: 'n', type: 'number', unique: true },
      { name: 'text', type: 'string', unique: true },
    ]);
    const up = Array.from({ length: 1_000 }, (_, n) => ({ n, text: `text ${1_000 - n}` }));
    const down = [...up].reverse();
    const answers = await Promise.all(
      [up, down, up, down, up, down, up, down].map((objects) => bulk(objects, type.path)),
    );
    const created = answers.reduce((sum, answer) => sum + answer.created, 0);
    expect(created).to.equal(1_000);
    expect(await total(type.path)).to.equal(1_000);
  });

  /** Meanwhile each record with the text 'poison' fails with this SQLSTATE. */
  const withFault = (sqlstate: string, work: () => Promise<void>): Promise<void> =>
    asOwner(instance.databaseUrl, async (client) => {
      await client.query(`
        create function fail() returns trigger language plpgsql as $$
        begin raise exception 'failed by the test' using errcode = '${sqlstate}'; end $$;
        create trigger fail before insert on record for each row
          when (new.data ->> 'text' = 'poison') execute function fail()`);
      try {
        await work();
      } finally {
        await client.query('drop function fail cascade');
      }
    });

  it('of values that others are changing for long is refused, to be sent again', async () => {
    const type = await makeRecordType(tenant, [{ name: 'text', type: 'string' }]);
    for (const sqlstate of ['40P01', '40001']) {
      await withFault(sqlstate, async () => {
        const data = [{ text: 'right' }, { text: 'poison' }];
        const { body } = await tenant.post(`${type.path}/bulk`, { data }).expect(503);
        expect(body.error.code).to.equal('UNAVAILABLE');
      });
      expect(await total(type.path)).to.equal(0);
    }
  });

  describe('of thousands without unique values, which are written in two halves', () => {
    const many = (poisoned: readonly number[] = []) =>
      Array.from({ length: 2_001 }, (_, n) => ({ n, text: poisoned.includes(n) ? 'poison' : '' }));
    const makeType = () =>
      makeRecordType(tenant, [
        { name: 'n', type: 'number' },
        { name: 'text', type: 'string' },
      ]);

    it('keeps their order', async () => {
      const type = await makeType();
      const { data, created } = await bulk(many(), type.path);
      expect(created).to.equal(2_001);
      expect(data.map((entry) => entry.data)).to.deep.equal(many());
      const ids = data.map(({ id }) => id);
      expect(ids).to.deep.equal(ids.toSorted());
      const listed = await tenant.get(`${type.path}?limit=100&offset=950`).expect(200);
      expect(listed.body.data).to.deep.equal(data.slice(950, 1_050));
    });

    it('tells of a fault in the place of each that it kept from being stored', async () => {
      const type = await makeType();
      // 2,001 objects: 1,001 and 1,000.
      await withFault('53100', async () => {
        const { data, ...counts } = await bulk(many([1_001]), type.path);
        expect(counts).to.deep.equal({
          success: false,
          totalProcessed: 2_001,
          created: 1_001,
          failed: 1_000,
        });
        expect(data[1_000]?.data).to.deep.equal({ n: 1_000, text: '' });
        expect(data[1_001]).to.deep.include({ index: 1_001 });
        expect(data[2_000]?.error?.code).to.equal('UNAVAILABLE');
        await tenant.post(`${type.path}/bulk`, { data: many([0, 2_000]) }).expect(503);
      });
      expect(await total(type.path)).to.equal(1_001);
    });
  });

  // spec/platform.md R32
  it('of 10,000 is a handful of statements; of one more is refused', async () => {
    const type = await makeRecordType(tenant, [
      { name: 'status', type: 'string', required: true, values: ['active', 'ended'] },
      { name: 'email', type: 'string', unique: true },
      { name: 'amount', type: 'number' },
      { name: 'since', type: 'date' },
      { name: 'notes', type: 'object' },
    ]);
    const objects = Array.from({ length: 10_000 }, (_, n) => ({
      status: n % 2 === 0 ? 'active' : 'ended',
      email: `user-${n % 9_990}@example.org`,
      amount: n / 4,
      since: '2026-01-31',
      notes: { text: 'x'.repeat(200) },
    }));
    // More than the usual 1 MiB.
    expect(JSON.stringify(objects).length).to.be.above(3_000_000);
    const read = allStatements(tenant.scope);
    let statements = 0;
    const count = () => (statements += 1);
    read.on('query', count);
    const { data, ...counts } = await bulk(objects, type.path);
    read.off('query', count);
    // Type, begin, actor, type, insert, conflicts, what webhooks want, commit.
    expect(statements).to.be.within(3, 8);
    // The last ten repeat the addresses of the first ten.
    expect(counts).to.deep.equal({
      success: false,
      totalProcessed: 10_000,
      created: 9_990,
      failed: 10,
    });
    expect(data[9_989]?.data).to.deep.equal(objects[9_989]);
    expect(data[9_990]?.error?.details).to.deep.equal({
      field: 'email',
      value: 'user-0@example.org',
    });
    expect(await total(type.path)).to.equal(9_990);
    const tooMany = await tenant.post(`${type.path}/bulk`, { data: [...objects, {}] }).expect(400);
    expect(tooMany.body.error.details.field).to.equal('data');
  }).timeout(120_000);

  it('of more than 16 MiB is refused', async () => {
    const { body } = await tenant
      .post(`${path}/bulk`, { data: [{ name: 'x'.repeat(16 * 1024 * 1024) }] })
      .expect(413);
    expect(body.error.code).to.equal('PAYLOAD_TOO_LARGE');
    expect(body.error.message).to.include('16 MiB');
    await tenant.post(path, { data: { name: 'x'.repeat(1024 * 1024) } }).expect(413);
  });

  it('for a type that does not exist is 404', async () => {
    await tenant.post('/v1/mobjects/nothing/mdata/bulk', { data: [{}] }).expect(404);
  });
});
