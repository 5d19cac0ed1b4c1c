import { expect } from 'chai';
import { makeRecordType } from '../../support/billing/records.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const types = '/v1/mobjects';

describe('record types', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/platform.md R18
  it('are created, read by id or name, changed and deleted', async () => {
    const fields = [
      { name: 'status', type: 'string', required: true, values: ['a', 'b'] },
      { name: 'price', type: 'number', unique: true, values: [1.5, 2] },
    ];
    const described = { name: 'plan', label: 'Plan', description: 'What is sold.' };
    const { body } = await tenant.post(types, { ...described, fields }).expect(201);
    const { id, createdAt, updatedAt, ...rest } = body;
    expect(rest).to.deep.equal({ ...described, fields });
    expect(createdAt).to.match(/^\d{4}-.*Z$/);
    expect(updatedAt).to.equal(createdAt);
    expect((await tenant.get(`${types}/${id as string}`).expect(200)).body).to.deep.equal(body);
    expect((await tenant.get(`${types}/plan`).expect(200)).body).to.deep.equal(body);

    const changed = await tenant
      .put(`${types}/plan`, { name: 'plans', label: null, description: null })
      .expect(200);
    expect(changed.body).to.deep.include({
      id,
      name: 'plans',
      label: null,
      description: null,
      fields,
      createdAt,
    });
    await tenant.get(`${types}/plan`).expect(404);
    // What was read can be sent back.
    const again = await tenant.put(`${types}/plans`, changed.body).expect(200);
    expect(again.body.fields).to.deep.equal(fields);

    const deleted = await tenant.delete(`${types}/${id as string}`).expect(200);
    expect(deleted.body).to.deep.equal({
      success: true,
      message: "The record type 'plans' was deleted.",
    });
    await tenant.get(`${types}/${id as string}`).expect(404);
    await tenant.put(`${types}/plans`, { label: 'x' }).expect(404);
    await tenant.delete(`${types}/plans`).expect(404);
    await tenant.post(types, { name: 'plans' }).expect(201);
  });

  it('keep every digit of an allowed number', async () => {
    const values = '[0.12345678901234567890123,2]';
    const text = `{"name":"digits","fields":[{"name":"n","type":"number","values":${values}}]}`;
    expect((await tenant.post(types, text).expect(201)).text).to.include(values);
    expect((await tenant.get(`${types}/digits`).expect(200)).text).to.include(values);
    const path = `${types}/digits/mdata`;
    await tenant.post(path, '{"data":{"n":0.12345678901234567890123}}').expect(201);
    await tenant.post(path, '{"data":{"n":0.12345678901234567890124}}').expect(400);
  });

  // spec/platform.md R19
  it('have names of their own within the tenant', async () => {
    const { body } = await tenant.post(types, { name: 'taken' }).expect(201);
    const refused = await tenant.post(types, { name: 'taken' }).expect(409);
    expect(refused.body.error.code).to.equal('CONFLICT');
    await tenant.post(types, { name: 'other' }).expect(201);
    await tenant.put(`${types}/other`, { name: 'taken' }).expect(409);
    await tenant.post(types, { name: body.id }).expect(400);
    await (await instance.tenant()).post(types, { name: 'taken' }).expect(201);
  });

  it('are listed by name', async () => {
    const other = await instance.tenant();
    for (const name of ['b', 'c', 'a']) await other.post(types, { name }).expect(201);
    const { body } = await other.get(`${types}?limit=2`).expect(200);
    expect(body.data.map(({ name }: { name: string }) => name)).to.deep.equal(['a', 'b']);
    expect(body.pagination).to.deep.equal({ total: 3, limit: 2, offset: 0, hasMore: true });
    const rest = await other.get(`${types}?limit=2&offset=2`).expect(200);
    expect(rest.body.data.map(({ name }: { name: string }) => name)).to.deep.equal(['c']);
    expect(rest.body.pagination.hasMore).to.equal(false);
  });

  const refusals: [what: string, fields: unknown, field: string][] = [
    ['no fields but a text', 'x', 'fields'],
    ['a field without type', [{ name: 'a' }], 'fields[0].type'],
    ['an unknown type', [{ name: 'a', type: 'text' }], 'fields[0].type'],
    ['a name with a dot', [{ name: 'a.b', type: 'string' }], 'fields[0].name'],
    ['a name of our own', [{ name: 'createdAt', type: 'date' }], 'fields[0].name'],
    [
      'two fields of one name',
      ['a', 'a'].map((name) => ({ name, type: 'date' })),
      'fields[1].name',
    ],
    ['a unique array', [{ name: 'a', type: 'array', unique: true }], 'fields[0].unique'],
    [
      'a wrong allowed value',
      [{ name: 'a', type: 'number', values: [1, '2'] }],
      'fields[0].values[1]',
    ],
    ['allowed objects', [{ name: 'a', type: 'object', values: [{}] }], 'fields[0].values'],
    ['an unknown property', [{ name: 'a', type: 'string', index: true }], 'fields[0].index'],
    [
      'seven unique fields',
      Array.from({ length: 7 }, (_, i) => ({ name: `u${i}`, type: 'string', unique: true })),
      'fields',
    ],
  ];
  for (const [what, fields, field] of refusals) {
    it(`refuse ${what}`, async () => {
      const { body } = await tenant.post(types, { name: 'refused', fields }).expect(400);
      expect(body.error.details.field).to.equal(field);
      expect(body.error.message).to.include(field.split('.')[0]);
    });
  }

  // spec/platform.md R21
  it('that have records are deleted only by force', async () => {
    const { id, name, path } = await makeRecordType(tenant);
    await tenant.post(path, { data: { a: 1 } }).expect(201);
    const { body } = await tenant.post(path, { data: { a: 2 } }).expect(201);
    const refused = await tenant.delete(`${types}/${id}`).expect(409);
    expect(refused.body.error.details).to.deep.equal({ count: 2 });
    await tenant.delete(`${types}/${id}?force=false`).expect(409);
    await tenant.delete(`${types}/${id}?force=maybe`).expect(400);
    const deleted = await tenant.delete(`${types}/${id}?force=true`).expect(200);
    expect(deleted.body.message).to.equal(
      `The record type '${name}' was deleted with its records (2).`,
    );
    await tenant.get(`${path}/${body.id as string}`).expect(404);
    const { rows } = await tenant.scope.db.read.raw<{ rows: { count: string }[] }>(
      'select count(*) from record where record_type_id = ?',
      [id],
    );
    expect(rows[0]?.count).to.equal('0');
  });

  it('without records are deleted after their last one', async () => {
    const { id, path } = await makeRecordType(tenant);
    const { body } = await tenant.post(path, { data: {} }).expect(201);
    await tenant.delete(`${path}/${body.id as string}`).expect(200);
    await tenant.delete(`${types}/${id}`).expect(200);
  });

  describe('whose fields change', () => {
    const ids: string[] = [];
    let path: string;
    let id: string;
    const fields = [
      { name: 'status', type: 'string' },
      { name: 'seats', type: 'number' },
      { name: 'since', type: 'string' },
    ];
    before(async () => {
      ({ id, path } = await makeRecordType(tenant, fields));
      for (const data of [
        { status: 'active', seats: 1, since: '2026-01-31' },
        { status: 'ended', seats: 1.0, since: '2026-02-28T10:00Z' },
        { status: 'ended' },
      ]) {
        ids.push((await tenant.post(path, { data }).expect(201)).body.id);
      }
    });

    const change = (changed: Record<string, object | null>) => {
      const merged = new Map(fields.map((field) => [field.name, field as object | null]));
      for (const [name, field] of Object.entries(changed)) {
        merged.set(name, field && { name, ...field });
      }
      return { fields: [...merged.values()].filter((field) => field !== null) };
    };
    const refusedChanges: [
      what: string,
      changed: object,
      field: string,
      count: number,
      at: number,
    ][] = [
      ['a new required field', { a: { type: 'string', required: true } }, 'a', 3, 0],
      [
        'a required field that some lack',
        { seats: { type: 'number', required: true } },
        'seats',
        1,
        2,
      ],
      ['another type', { seats: { type: 'string' } }, 'seats', 2, 0],
      ['a type that none fits', { status: { type: 'date' } }, 'status', 3, 0],
      ['fewer values', { status: { type: 'string', values: ['active'] } }, 'status', 2, 1],
      ['unique values that repeat', { status: { type: 'string', unique: true } }, 'status', 2, 1],
      ['unique numbers that repeat', { seats: { type: 'number', unique: true } }, 'seats', 2, 0],
      ['the end of a field that has values', { seats: null }, 'seats', 2, 0],
    ];
    for (const [what, changed, field, count, at] of refusedChanges) {
      it(`refuse ${what}, and change nothing`, async () => {
        const body = change(changed as Record<string, object | null>);
        const refused = await tenant.put(`${types}/${id}`, { ...body, label: 'x' }).expect(409);
        expect(refused.body.error.details).to.deep.equal({ field, count, example: ids[at] });
        const read = await tenant.get(`${types}/${id}`).expect(200);
        expect(read.body).to.deep.include({ fields, label: null });
      });
    }

    it('move what is stored into indexes, and back', async () => {
      const found = async (filter: string) =>
        (await tenant.get(`${path}?filter=${filter}&sort=since:desc`).expect(200)).body.data.map(
          (record: { id: string }) => ids.indexOf(record.id),
        );
      // As texts '2026-02-28T10:00Z' is the greater one; as instants it is before 11:00 +00:30.
      expect(await found('since:gte:2026-01-31')).to.deep.equal([1, 0]);
      await tenant
        .put(
          `${types}/${id}`,
          change({ since: { type: 'date' }, seats: { type: 'number', values: [1] } }),
        )
        .expect(200);
      expect(await found('since:lt:2026-02-28T11:00:00%2B00:30')).to.deep.equal([1, 0]);
      expect(await found('since:eq:2026-01-31T00:00Z')).to.deep.equal([0]);
      await tenant.put(`${types}/${id}`, { fields: null }).expect(200);
      expect(await found('seats:eq:1')).to.deep.equal([1, 0]);
      await tenant.post(path, { data: { anything: 1 } }).expect(201);
      const refused = await tenant.put(`${types}/${id}`, change({})).expect(409);
      expect(refused.body.error.details).to.include({ field: 'fields', count: 1 });
    });

    it('become unique, and hold it from then on', async () => {
      const type = await makeRecordType(tenant, [{ name: 'code', type: 'string' }]);
      await tenant.post(type.path, { data: { code: 'x' } }).expect(201);
      const unique = { name: 'code', type: 'string', unique: true };
      await tenant.put(`${types}/${type.id}`, { fields: [unique] }).expect(200);
      await tenant.post(type.path, { data: { code: 'x' } }).expect(409);
      await tenant
        .put(`${types}/${type.id}`, { fields: [{ ...unique, unique: false }] })
        .expect(200);
      await tenant.post(type.path, { data: { code: 'x' } }).expect(201);
      await tenant.put(`${types}/${type.id}`, { fields: [unique] }).expect(409);
    });

    it('while records are written fit all of them', async () => {
      const type = await makeRecordType(tenant, [{ name: 'code', type: 'string' }]);
      const writes = Array.from({ length: 20 }, () =>
        tenant.post(type.path, { data: { code: 'same' } }),
      );
      const changed = tenant.put(`${types}/${type.id}`, {
        fields: [{ name: 'code', type: 'string', unique: true }],
      });
      const [answer, ...answers] = await Promise.all([changed, ...writes]);
      const stored = answers.filter(({ status }) => status === 201).length;
      if (answer.status === 200) expect(stored).to.equal(1);
      else {
        expect(answer.status).to.equal(409);
        expect(stored).to.equal(20);
      }
    });
  });

  it('with more fields than there are indexes filter and sort by all of them', async () => {
    const fields = Array.from({ length: 25 }, (_, i) => ({ name: `f${i}`, type: 'number' }));
    const { path } = await makeRecordType(tenant, fields);
    for (const n of [10, 9, 100]) {
      const data = Object.fromEntries(fields.map(({ name }, i) => [name, n + i]));
      await tenant.post(path, { data }).expect(201);
    }
    const { body } = await tenant.get(`${path}?filter=f24:gt:33&sort=f24:desc`).expect(200);
    expect(body.data.map((record: { data: { f24: number } }) => record.data.f24)).to.deep.equal([
      124, 34,
    ]);
  });
});
