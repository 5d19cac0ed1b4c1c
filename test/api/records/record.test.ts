import { expect } from 'chai';
import { makeRecordType } from '../../support/billing/records.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const noSuchId = '0190a000-0000-7000-8000-000000000000';

describe('records', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let path: string;
  let typeId: string;
  before(async () => {
    ({ id: typeId, path } = await makeRecordType(tenant, [
      { name: 'status', type: 'string', required: true, values: ['active', 'ended'] },
      { name: 'email', type: 'string', unique: true },
      { name: 'seats', type: 'number' },
      { name: 'paid', type: 'boolean' },
      { name: 'renewsOn', type: 'date' },
      { name: 'address', type: 'object' },
      { name: 'tags', type: 'array' },
    ]));
  });

  const create = async (data: object, at = path) =>
    (await tenant.post(at, { data }).expect(201)).body as { id: string; data: object };

  // spec/platform.md R22, R23
  it('are created, read, changed and deleted', async () => {
    const data = {
      status: 'active',
      seats: 2.5,
      paid: false,
      renewsOn: '2026-02-28',
      address: { city: 'Springfield', lines: ['a', { b: null }] },
      tags: ['eu', 1, true],
    };
    const { body } = await tenant.post(path, { data }).expect(201);
    const { id, createdAt, updatedAt, ...rest } = body;
    expect(rest).to.deep.equal({ mobjectId: typeId, data });
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect(createdAt).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(updatedAt).to.equal(createdAt);
    expect((await tenant.get(`${path}/${id as string}`).expect(200)).body).to.deep.equal(body);

    const changed = await tenant.put(`${path}/${id as string}`, { data: { seats: 3, tags: null } });
    expect(changed.status).to.equal(200);
    const { tags, ...kept } = data;
    expect(tags).to.have.length(3);
    expect(changed.body.data).to.deep.equal({ ...kept, seats: 3 });
    expect(changed.body.createdAt).to.equal(createdAt);
    expect(Date.parse(changed.body.updatedAt)).to.be.at.least(Date.parse(createdAt));
    const read = await tenant.get(`${path}/${id as string}`).expect(200);
    expect(read.body).to.deep.equal(changed.body);
    // What was read can be sent back.
    await tenant.put(`${path}/${id as string}`, read.body).expect(200);

    const deleted = await tenant.delete(`${path}/${id as string}`).expect(200);
    expect(deleted.body).to.deep.equal({
      success: true,
      message: `The record '${id as string}' was deleted.`,
    });
    await tenant.get(`${path}/${id as string}`).expect(404);
    await tenant.put(`${path}/${id as string}`, { data: {} }).expect(404);
    await tenant.delete(`${path}/${id as string}`).expect(404);
  });

  it('keep every digit of a number', async () => {
    // 31 digits: a float would keep 17 of them.
    const digits = '1234567890123456789012.123456789';
    const text = `{"data":{"status":"active","seats":${digits},"address":{"deep":[${digits}]}}}`;
    const created = await tenant.post(path, text).expect(201);
    const read = await tenant.get(`${path}/${created.body.id as string}`).expect(200);
    for (const answer of [created, read]) {
      expect(answer.text.split(digits), answer.text).to.have.length(3);
    }
    const found = await tenant.get(`${path}?filter=seats:eq:${digits}`).expect(200);
    expect(found.body.pagination.total).to.equal(1);
    const none = await tenant.get(`${path}?filter=seats:eq:${digits}1`).expect(200);
    expect(none.body.pagination.total).to.equal(0);
  });

  const refusals: [what: string, data: object, field: string, value: unknown][] = [
    ['a missing required field', { seats: 1 }, 'status', null],
    ['null for a required field', { status: null }, 'status', null],
    ['an unknown field', { status: 'active', colour: 'red' }, 'colour', 'red'],
    ['a value that is not allowed', { status: 'paused' }, 'status', 'paused'],
    ['a number for a text', { status: 1 }, 'status', 1],
    ['a text for a number', { status: 'active', seats: '1' }, 'seats', '1'],
    ['a number for a truth value', { status: 'active', paid: 1 }, 'paid', 1],
    [
      'a day that does not exist',
      { status: 'active', renewsOn: '2026-02-29' },
      'renewsOn',
      '2026-02-29',
    ],
    ['an array for an object', { status: 'active', address: [1] }, 'address', [1]],
    ['an object for an array', { status: 'active', tags: { a: 1 } }, 'tags', { a: 1 }],
  ];
  for (const [what, data, field, value] of refusals) {
    // spec/platform.md R14, R20
    it(`refuse ${what}, and name it`, async () => {
      const { body } = await tenant.post(path, { data }).expect(400);
      expect(body.error.code).to.equal('VALIDATION_ERROR');
      expect(body.error.message).to.include(`'${field}'`);
      expect(body.error.details).to.deep.equal({ field, value });
      expect(body.error.timestamp).to.match(/^\d{4}-.*Z$/);
    });
  }

  it('refuse a number of more than 38 digits, and name its place', async () => {
    const long = '1'.repeat(39);
    const typed = await tenant.post(path, `{"data":{"status":"active","seats":${long}}}`);
    expect(typed.status).to.equal(400);
    expect(typed.body.error.details).to.deep.equal({ field: 'seats' });
    const deep = `{"data":{"status":"active","address":{"a":[0,${long}]}}}`;
    const nested = await tenant.post(path, deep).expect(400);
    expect(nested.body.error.details).to.deep.equal({ field: 'address.a[1]' });
  });

  it('refuse a change that the type does not allow, and change nothing', async () => {
    const { id, data } = await create({ status: 'active', seats: 1 });
    for (const change of [{ status: null }, { status: 'x' }, { seats: true }, { other: 1 }]) {
      const { body } = await tenant.put(`${path}/${id}`, { data: change }).expect(400);
      expect(body.error.details.field).to.equal(Object.keys(change)[0]);
    }
    expect((await tenant.get(`${path}/${id}`).expect(200)).body.data).to.deep.equal(data);
  });

  it('accept dates and instants as they are', async () => {
    for (const renewsOn of [
      '2026-01-31',
      '2026-01-31T10:00Z',
      '2026-01-31T10:00:00',
      '2026-01-31T10:00:00.123456+05:30',
    ]) {
      expect((await create({ status: 'active', renewsOn })).data).to.include({ renewsOn });
    }
    for (const renewsOn of [
      '31.01.2026',
      '2026-01-31T25:00Z',
      '2026-01-31T10:00:00.1234567Z',
      '',
    ]) {
      await tenant.post(path, { data: { status: 'active', renewsOn } }).expect(400);
    }
  });

  // spec/platform.md R20
  it('without declared fields hold any object', async () => {
    const free = await makeRecordType(tenant);
    const data = { a: 1, b: { c: [null, { d: 'x' }] }, 'with space': true, nothing: null };
    const { id } = await create(data, free.path);
    const read = await tenant.get(`${free.path}/${id}`).expect(200);
    expect(read.body.data).to.deep.equal(data);
    const { body } = await tenant
      .put(`${free.path}/${id}`, { data: { a: null, e: 2 } })
      .expect(200);
    expect(body.data).to.deep.equal({ b: data.b, 'with space': true, nothing: null, e: 2 });
  });

  it('are found only under their own type', async () => {
    const { id } = await create({ status: 'active' });
    const other = await makeRecordType(tenant);
    await tenant.get(`${other.path}/${id}`).expect(404);
    await tenant.put(`${other.path}/${id}`, { data: {} }).expect(404);
    await tenant.delete(`${other.path}/${id}`).expect(404);
    await tenant.get(`${path}/${id}`).expect(200);
    await tenant.get(`${path}/${noSuchId}`).expect(404);
    await tenant.get(`/v1/mobjects/${noSuchId}/mdata`).expect(404);
    await tenant.post(`/v1/mobjects/${noSuchId}/mdata`, { data: {} }).expect(404);
  });

  describe('with a unique field', () => {
    const email = () => `${Math.random()}@example.org`;

    // spec/platform.md R24
    it('of 50 that come at the same time one is stored', async () => {
      const data = { status: 'active', email: email() };
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => tenant.post(path, { data })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([201, ...Array.from({ length: 49 }, () => 409)]);
      const refused = answers.find(({ status }) => status === 409);
      expect(refused?.body.error.code).to.equal('CONFLICT');
      expect(refused?.body.error.details).to.deep.equal({ field: 'email', value: data.email });
      const found = await tenant.get(`${path}?filter=email:eq:${data.email}`).expect(200);
      expect(found.body.pagination.total).to.equal(1);
    });

    // spec/platform.md R24
    it('refuse a change to a value that is taken', async () => {
      const [first, second] = [email(), email()];
      await create({ status: 'active', email: first });
      const { id } = await create({ status: 'active', email: second });
      const { body } = await tenant.put(`${path}/${id}`, { data: { email: first } }).expect(409);
      expect(body.error.details).to.deep.equal({ field: 'email', value: first });
      await tenant.put(`${path}/${id}`, { data: { email: second } }).expect(200);
    });

    it('free the value when the record is deleted or the value changes', async () => {
      const data = { status: 'active', email: email() };
      const first = await create(data);
      await tenant.delete(`${path}/${first.id}`).expect(200);
      const second = await create(data);
      await tenant.put(`${path}/${second.id}`, { data: { email: null } }).expect(200);
      await create(data);
      // No value is no value that could be taken.
      await create({ status: 'active', email: null });
      await create({ status: 'active' });
    });

    it('know numbers and instants however they are written', async () => {
      const type = await makeRecordType(tenant, [
        { name: 'code', type: 'number', unique: true },
        { name: 'at', type: 'date', unique: true },
      ]);
      await tenant.post(type.path, { data: { code: 1.5, at: '2026-01-01' } }).expect(201);
      await tenant.post(type.path, '{"data":{"code":15e-1}}').expect(409);
      await tenant.post(type.path, { data: { at: '2026-01-01T02:00:00+02:00' } }).expect(409);
      await tenant
        .post(type.path, { data: { code: -1.5, at: '2026-01-01T00:00:00Z' } })
        .expect(409);
      await tenant.post(type.path, { data: { code: -1.5, at: '2026-01-02' } }).expect(201);
    });

    it('refuse a text that is too long to be compared', async () => {
      const data = { status: 'active', email: 'x'.repeat(256) };
      const { body } = await tenant.post(path, { data }).expect(400);
      expect(body.error.details.field).to.equal('email');
      await create({ status: 'active', email: 'x'.repeat(255) });
    });
  });

  it('are audited with what they were', async () => {
    const { id } = await create({ status: 'active', seats: 1 });
    await tenant.put(`${path}/${id}`, { data: { seats: 2 } }).expect(200);
    await tenant.delete(`${path}/${id}`).expect(200);
    const rows = await tenant.scope.db
      .read('audit')
      .where({ entity: 'record', entityId: id })
      .orderBy('id');
    expect(rows.map((row: { action: string }) => row.action)).to.deep.equal([
      'create',
      'update',
      'delete',
    ]);
    expect(rows[1].before.data.seats).to.equal(1);
    expect(rows[1].after.data.seats).to.equal(2);
    expect(rows[1].actor).to.equal('tester');
  });

  it('of another tenant are not there', async () => {
    const { id } = await create({ status: 'active' });
    const stranger = await instance.tenant();
    await stranger.get(`${path}/${id}`).expect(404);
    await stranger.get(path).expect(404);
  });
});
