import { expect } from 'chai';
import { allStatements } from '../../support/servers/instance.js';
import { makeRecordType } from '../../support/billing/records.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

interface Listed {
  readonly data: readonly { readonly id: string; readonly data: Record<string, unknown> }[];
  readonly pagination: object;
}

const fields = [
  { name: 'n', type: 'number' },
  { name: 'text', type: 'string' },
  { name: 'amount', type: 'number' },
  { name: 'open', type: 'boolean' },
  { name: 'due', type: 'date' },
  { name: 'address', type: 'object' },
  { name: 'tags', type: 'array' },
];
/** The third has nothing but its number. */
const stored: readonly Readonly<Record<string, unknown>>[] = [
  {
    n: 0,
    text: 'alpha',
    amount: 9,
    open: true,
    due: '2026-01-31',
    address: { city: 'Berlin', floor: 3, 'e:mail': 'x' },
    tags: ['red', 5],
  },
  {
    n: 1,
    text: 'Beta: b,c',
    amount: 10,
    open: false,
    due: '2026-01-31T12:00:00+02:00',
    address: { city: 'Bern', floor: '3', deep: { list: [{ sku: 'A-1' }, { sku: 'B-2' }] } },
    tags: [],
  },
  { n: 2 },
  {
    n: 3,
    text: 'alphabet',
    amount: -0.5,
    open: false,
    due: '2025-12-31',
    address: { city: 'Rome' },
    tags: ['redder', true],
  },
];

/** The filters and the numbers of the records that they leave. */
const cases: readonly (readonly [filters: string | readonly string[], left: readonly number[]])[] =
  [
    ['text:eq:alpha', [0]],
    ['text:eq:Beta: b,c', [1]],
    ['text:ne:alpha', [1, 2, 3]],
    // By code point: capitals come before small letters.
    ['text:gt:alpha', [3]],
    ['text:gte:alpha', [0, 3]],
    ['text:lt:alpha', [1]],
    ['text:lte:alpha', [0, 1]],
    ['text:in:alphabet,alpha,zeta', [0, 3]],
    ['text:contains:lpha', [0, 3]],
    ['text:contains:%', []],
    ['text:eq:', []],
    ['amount:eq:9.0', [0]],
    ['amount:ne:9', [1, 2, 3]],
    // As numbers: 10 is more than 9.
    ['amount:gt:9', [1]],
    ['amount:gte:9', [0, 1]],
    ['amount:lt:0', [3]],
    ['amount:lte:9e0', [0, 3]],
    ['amount:in:10,-0.50', [1, 3]],
    ['amount:contains:0', [1, 3]],
    ['open:eq:true', [0]],
    ['open:ne:true', [1, 2, 3]],
    ['open:gt:false', [0]],
    ['open:lte:false', [1, 3]],
    ['open:in:true,false', [0, 1, 3]],
    ['open:contains:als', [1, 3]],
    ['due:eq:2026-01-31', [0]],
    ['due:eq:2026-01-31T10:00Z', [1]],
    ['due:ne:2026-01-31', [1, 2, 3]],
    ['due:gt:2026-01-31', [1]],
    ['due:gte:2026-01-31', [0, 1]],
    ['due:lt:2026-01-31T10:00:00Z', [0, 3]],
    ['due:lte:2026-01-30T23:59:59.999999Z', [3]],
    ['due:in:2025-12-31,2026-01-31T11:00+01:00', [1, 3]],
    ['due:contains:2026-01', [0, 1]],
    ['address.city:eq:Bern', [1]],
    ['address.city:contains:Ber', [0, 1]],
    ['address.city:ne:Bern', [0, 2, 3]],
    ['address.city:gt:Bern', [3]],
    // A number with the number, a text with the text.
    ['address.floor:eq:3', [0, 1]],
    ['address.floor:gte:3.0', [0]],
    ['address.floor:lt:20', [0]],
    ['address.deep.list.sku:eq:B-2', [1]],
    ['address.deep.list.sku:in:x,A-1', [1]],
    ['address:eq:{"city":"Rome"}', [3]],
    ['address:ne:{"city":"Rome"}', [0, 1, 2]],
    ['address:in:[{"city":"Rome"},{}]', [3]],
    ['address:contains:{"floor":3.0}', [0]],
    // PostgreSQL puts the object with more members last.
    ['address:gt:{"city":"Rome"}', [0, 1]],
    ['address:lte:{"city":"Rome"}', [3]],
    ['tags:eq:red', [0]],
    ['tags:contains:red', [0, 3]],
    ['tags:ne:red', [1, 2, 3]],
    ['tags:in:5,true', [0, 3]],
    // Texts are compared with the text.
    ['tags:gt:4', [0, 3]],
    [['text:contains:alpha', 'amount:lt:0'], [3]],
    [['amount:gte:-1', 'amount:lte:9', 'open:eq:true'], [0]],
  ];

describe('filters of records', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const paths: Record<string, string> = {};
  before(async () => {
    paths['declared'] = (await makeRecordType(tenant, fields)).path;
    paths['free'] = (await makeRecordType(tenant)).path;
    for (const path of Object.values(paths)) {
      await tenant.post(`${path}/bulk`, { data: stored }).expect(200);
    }
  });

  const list = async (query: string, path = paths['declared'] ?? ''): Promise<Listed> =>
    (await tenant.get(`${path}?${query}`).expect(200)).body;
  const queryOf = (filters: string | readonly string[]) =>
    [filters]
      .flat()
      .map((filter) => `filter=${encodeURIComponent(filter)}`)
      .join('&');
  const numbers = ({ data }: Listed) => data.map((record) => record.data['n']);

  for (const [filters, left] of cases) {
    // spec/platform.md R25, R26
    it(`${[filters].flat().join(' and ')} leaves ${left.join(', ') || 'none'}`, async () => {
      const listed = await list(queryOf(filters));
      expect(numbers(listed)).to.deep.equal(left);
      expect(listed.pagination).to.include({ total: left.length, hasMore: false });
    });
  }

  it('compare by the type of what is stored where none is declared', async () => {
    const left = async (filter: string) => numbers(await list(queryOf(filter), paths['free']));
    expect(await left('amount:gt:9')).to.deep.equal([1]);
    expect(await left('open:eq:true')).to.deep.equal([0]);
    expect(await left('text:ne:alpha')).to.deep.equal([1, 2, 3]);
    expect(await left('text:in:alpha,zeta')).to.deep.equal([0]);
    // Dates are texts here.
    expect(await left('due:gte:2026-01-31')).to.deep.equal([0, 1]);
    expect(await left('no.such.field:eq:1')).to.deep.equal([]);
    expect(await left('no.such.field:ne:1')).to.deep.equal([0, 1, 2, 3]);
    expect(await left('"quoted"\\:eq:1')).to.deep.equal([]);
  });

  it('know texts that are longer than their keys', async () => {
    const { path } = await makeRecordType(tenant, [{ name: 'long', type: 'string' }]);
    const start = 'x'.repeat(256);
    for (const end of ['a', 'b', '']) {
      await tenant.post(path, { data: { long: start + end } }).expect(201);
    }
    const left = async (filter: string) =>
      (await list(queryOf(filter), path)).data.map(({ data }) => String(data['long']).slice(256));
    expect(await left(`long:eq:${start}a`)).to.deep.equal(['a']);
    expect(await left(`long:ne:${start}a`)).to.deep.equal(['b', '']);
    expect(await left(`long:gt:${start}`)).to.deep.equal(['a', 'b']);
    expect(await left(`long:lt:${start}b`)).to.deep.equal(['a', '']);
    expect(await left(`long:in:${start}b,${start}`)).to.deep.equal(['b', '']);
  });

  it('may be twenty, in an address of 32 KiB', async () => {
    const longest = `text:ne:${'\u{1F4B6}'.repeat(120)}`;
    const filters = (count: number) => queryOf(Array.from({ length: count }, () => longest));
    expect(filters(20)).to.have.length.within(28_000, 31_000);
    expect(numbers(await list(filters(20)))).to.deep.equal([0, 1, 2, 3]);
    await tenant.get(`${paths['declared']}?${filters(21)}`).expect(400);
    const longer = queryOf([`text:ne:${'x'.repeat(40_000)}`]);
    const { body } = await tenant.get(`${paths['declared']}?${longer}`).expect(431);
    expect(body.error.code).to.equal('HEADERS_TOO_LARGE');
  });

  // spec/platform.md R27
  it('know id, createdAt and updatedAt', async () => {
    const { data } = await list('');
    const [first, second] = data as unknown as [{ id: string; createdAt: string }, { id: string }];
    expect(numbers(await list(`filter=id:eq:${first.id}`))).to.deep.equal([0]);
    expect(numbers(await list(`filter=id:in:${first.id},${second.id}`))).to.deep.equal([0, 1]);
    expect(numbers(await list(`filter=id:gt:${first.id}&limit=1`))).to.deep.equal([1]);
    expect(numbers(await list(`filter=createdAt:eq:${first.createdAt}`))).to.deep.equal([
      0, 1, 2, 3,
    ]);
    expect(numbers(await list(`filter=createdAt:contains:${first.createdAt}`))).to.have.length(4);
    expect(numbers(await list(`filter=updatedAt:lt:2020-01-01`))).to.deep.equal([]);
    expect(numbers(await list(`filter=updatedAt:gte:2020-01-01&sort=createdAt`))).to.have.length(4);
  });

  // spec/platform.md R28
  it('sort with missing values last and ties by id', async () => {
    const sorted = async (sort: string, path?: string) => numbers(await list(`sort=${sort}`, path));
    expect(await sorted('amount')).to.deep.equal([3, 0, 1, 2]);
    expect(await sorted('amount:desc')).to.deep.equal([1, 0, 3, 2]);
    expect(await sorted('due:asc')).to.deep.equal([3, 0, 1, 2]);
    expect(await sorted('text')).to.deep.equal([1, 0, 3, 2]);
    expect(await sorted('open')).to.deep.equal([1, 3, 0, 2]);
    expect(await sorted('open:desc')).to.deep.equal([0, 3, 1, 2]);
    expect(await sorted('id:desc')).to.deep.equal([3, 2, 1, 0]);
    // Numbers come before texts.
    expect(await sorted('address.floor')).to.deep.equal([0, 1, 2, 3]);
    expect(await sorted('amount', paths['free'])).to.deep.equal([3, 0, 1, 2]);
    const pages = [];
    for (const offset of [0, 1, 2, 3, 4]) {
      const { data, pagination } = await list(`sort=amount&limit=1&offset=${offset}`);
      pages.push(...data.map((record) => record.data['n']));
      expect(pagination).to.deep.equal({ total: 4, limit: 1, offset, hasMore: offset < 3 });
    }
    expect(pages).to.deep.equal([3, 0, 1, 2]);
  });

  // spec/platform.md R29
  it('show only the fields that are asked for', async () => {
    const shown = async (names: string) =>
      (await list(`fields=${names}&filter=n:lte:1`)).data.map(({ data }) => data);
    expect(await shown('n,address.city')).to.deep.equal([
      { n: 0, address: { city: 'Berlin' } },
      { n: 1, address: { city: 'Bern' } },
    ]);
    expect(await shown('address.deep.list.sku,id')).to.deep.equal([
      { address: {} },
      { address: { deep: { list: [{ sku: 'A-1' }, { sku: 'B-2' }] } } },
    ]);
    expect(await shown('address.city,tags,address')).to.deep.equal(
      stored.slice(0, 2).map(({ address, tags }) => ({ address, tags })),
    );
  });

  // spec/platform.md R16
  it('cap limit, and refuse one that is none', async () => {
    expect((await list('limit=5000')).pagination).to.deep.include({ limit: 1000, total: 4 });
    expect((await list('')).pagination).to.deep.equal({
      total: 4,
      limit: 50,
      offset: 0,
      hasMore: false,
    });
    for (const query of ['limit=0', 'limit=-1', 'offset=x']) {
      await tenant.get(`${paths['declared'] ?? ''}?${query}`).expect(400);
    }
  });

  const refusals: [query: string, field: string, value: string][] = [
    ['filter=status', 'filter', 'status'],
    ['filter=amount:eq', 'filter', 'amount:eq'],
    ['filter=:eq:1', 'filter', ':eq:1'],
    ['filter=amount:like:1', 'amount', 'like'],
    ['filter=amount:EQ:1', 'amount', 'EQ'],
    ['filter=colour:eq:1', 'colour', 'colour'],
    ['filter=text.part:eq:1', 'text.part', 'text.part'],
    ['filter=address..city:eq:1', 'address..city', 'address..city'],
    ['filter=amount:eq:many', 'amount', 'many'],
    ['filter=amount:in:1,x', 'amount', 'x'],
    [`filter=amount:eq:${'1'.repeat(39)}`, 'amount', '1'.repeat(39)],
    ['filter=open:eq:yes', 'open', 'yes'],
    ['filter=due:gt:yesterday', 'due', 'yesterday'],
    ['filter=due:gt:2026-02-29', 'due', '2026-02-29'],
    ['filter=createdAt:gt:now', 'createdAt', 'now'],
    ['filter=id:eq:1', 'id', '1'],
    ['filter=address:eq:Rome', 'address', 'Rome'],
    ['filter=text:eq:a&filter=open:eq:1', 'open', '1'],
    ['sort=colour', 'colour', 'colour'],
    ['sort=amount:up', 'sort', 'amount:up'],
    ['sort=address', 'address', 'address'],
    ['fields=n,colour', 'colour', 'colour'],
  ];
  for (const [query, field, value] of refusals) {
    // spec/platform.md R30
    it(`refuse ${query.slice(0, 60)}, and name it`, async () => {
      const { body } = await tenant.get(`${paths['declared'] ?? ''}?${query}`).expect(400);
      expect(body.error.code).to.equal('VALIDATION_ERROR');
      expect(body.error.details).to.deep.equal({ field, value });
      expect(body.error.message).to.include(query.split('=')[0]);
    });
  }

  it('of a declared field use its index among very many records', async () => {
    const type = await makeRecordType(tenant, [
      { name: 'amount', type: 'number' },
      { name: 'status', type: 'string' },
    ]);
    await asOwner(instance.databaseUrl, async (client) => {
      await client.query(
        `insert into record (tenant_id, id, record_type_id, data, created_at, updated_at, key1, key2)
         select $1, gen_random_uuid(), $2, data, now(), now(),
           record_key(data -> 'amount', 'number'), record_key(data -> 'status', 'string')
         from (select jsonb_build_object('amount', n / 100.0, 'status', 's' || n % 4) as data
           from generate_series(1, 30000) as n) as made`,
        [tenant.id, type.id],
      );
      await client.query('analyze record');
    });
    const read = allStatements(tenant.scope);
    const statements: { sql: string; bindings: unknown[] }[] = [];
    const note = ({ sql, bindings }: { sql: string; bindings: unknown[] }) =>
      statements.push({ sql, bindings });
    read.on('query', note);
    const listed = await list('filter=amount:eq:123.45&sort=status:desc', type.path);
    const top = await list('sort=amount:desc&limit=2', type.path);
    read.off('query', note);
    expect(listed.pagination).to.include({ total: 1 });
    expect(top.data.map(({ data }) => data['amount'])).to.deep.equal([300, 299.99]);
    const plans: string[] = [];
    for (const { sql, bindings } of statements.filter((one) => /from "record"/.test(one.sql))) {
      const { rows } = await read.raw<{ rows: { 'QUERY PLAN': string }[] }>(
        `explain ${sql.replace(/\$\d+/g, '?')}`,
        bindings as string[],
      );
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    // A count and two parts of a page by status, a page by amount.
    expect(plans.length).to.be.at.least(3);
    for (const plan of plans) {
      expect(plan).to.match(/Index (?:Only )?Scan(?: Backward)? using record_key1|record_key1/);
      expect(plan).to.not.match(/Seq Scan/);
    }
  }).timeout(120_000);
});
