import { expect } from 'chai';
import request from 'supertest';
import { summary } from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const path = '/v1/ingest/usage';

/** The error body of ingestion (spec/gateway.md R5). */
const errorBody = (status: number, message: string) => ({
  is_gateway_error: false,
  status_code: status,
  error: { message },
  extra_fields: {},
});

describe('ingestion', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const message = (account: string) => ({ externalTransactionId: '1', billingAccountRef: account });
  const post = (token: string, body: string | object) =>
    request(instance.url).post(path).set('Authorization', `Bearer ${token}`).send(body);

  // spec/rating.md R69; spec/gateway.md R1
  it('says topic, partition and offset, which grows by one in a partition', async () => {
    const { body } = await tenant.post(path, { key: 'k', message: message('a') }).expect(200);
    expect(body).to.deep.equal({
      status: 'published',
      topic: `usage.${tenant.id}`,
      partition: body.partition,
      offset: 0,
    });
    const second = await tenant.post(path, { message: message('a') }).expect(200);
    expect(second.body).to.deep.equal({ ...body, offset: 1 });
  });

  // spec/rating.md R68
  it('spreads accounts over partitions, and keeps one account in one', async () => {
    const partitions = new Map<string, Set<number>>();
    for (let index = 0; index < 60; index += 1) {
      const account = `account-${index % 30}`;
      const { body } = await tenant.post(path, { message: message(account) }).expect(200);
      const seen = partitions.get(account) ?? new Set();
      partitions.set(account, seen.add(body.partition as number));
    }
    expect([...partitions.values()].map((seen) => seen.size)).to.deep.equal(Array(30).fill(1));
    expect(new Set([...partitions.values()].flatMap((seen) => [...seen])).size).to.equal(8);
  });

  const refused: [name: string, body: string, status: number, message: RegExp][] = [
    ['broken JSON', '{"message": {', 400, /not valid JSON/],
    ['no body', '', 400, /JSON body is required/],
    ['no message', '{"key": "k"}', 400, /'message' is required/],
    ['message null', '{"message": null}', 400, /message/],
    ['message an array', '{"message": []}', 400, /message/],
    ['message a string', '{"message": "x"}', 400, /message/],
    ['message a long number', `{"message": ${'9'.repeat(30)}}`, 400, /message/],
    ['an array in place of an event', '[]', 400, /must be an object/],
    ['a number', '5', 400, /must be an object/],
    ['65 levels', `{"message": {"a": ${'['.repeat(65)}${']'.repeat(65)}}}`, 400, /deeper than 64/],
    ['more than 1 MiB', JSON.stringify({ message: { a: 'x'.repeat(1 << 20) } }), 413, /1 MiB/],
  ];
  for (const [name, body, status, text] of refused) {
    // spec/gateway.md R2, R3, R5 to R7
    it(`refuses ${name} with ${status} in its own error body`, async () => {
      const before = await summary(tenant);
      const { body: answer } = await post(tenant.token, body)
        .set('Content-Type', 'application/json')
        .expect(status);
      expect(answer).to.deep.equal(errorBody(status, answer.error.message as string));
      expect(answer.error.message).to.match(text);
      expect(await summary(tenant)).to.deep.equal(before);
    });
  }

  const accepted: [name: string, body: string][] = [
    ['an empty message', '{"message": {}}'],
    ['a key that is a number', '{"key": 12.50, "message": {}}'],
    ['a key that is an object', '{"key": {"a": 1}, "message": {}}'],
    ['a key with NUL', '{"key": "a\\u0000b", "message": {}}'],
    ['half a surrogate pair', '{"key": "\\ud800", "message": {"a": "\\ud800", "\\udc00": 1}}'],
    ['NUL in the message', '{"message": {"billingAccountRef": "a\\u0000", "x": "\\u0000"}}'],
    ['numbers of 40 digits', `{"message": {"quantity": ${'1'.repeat(40)}, "x": 1e400}}`],
    ['unknown properties', '{"message": {"new": true}, "other": [1]}'],
    ['exactly 64 levels', `{"message": {"a": ${'['.repeat(62)}${']'.repeat(62)}}}`],
  ];
  for (const [name, body] of accepted) {
    // spec/gateway.md R1, R2
    it(`accepts ${name}: whether it can be rated is found later`, async () => {
      const before = await summary(tenant);
      await post(tenant.token, body).set('Content-Type', 'application/json').expect(200);
      const { accepted: count } = await summary(tenant);
      expect(count).to.equal(before.accepted + 1);
    });
  }

  // spec/gateway.md R9
  it('keeps every digit of a message', async () => {
    const text = '{"message": {"billingAccountRef": "digits", "quantity": 0.10000000000000000001}}';
    const { body } = await post(tenant.token, text)
      .set('Content-Type', 'application/json')
      .expect(200);
    const { offset, partition } = body as { offset: number; partition: number };
    const { records } = await instance.platform.broker.read(tenant.id, partition, offset, 99);
    expect(records[0]?.message).to.include('0.10000000000000000001');
  });

  // spec/gateway.md R4
  it('takes the organization from the token, else from the message', async () => {
    const token = await instance.token(tenant.id, [], null);
    const without = await post(token, { message: message('a') }).expect(400);
    expect(without.body).to.deep.equal(
      errorBody(400, 'The organization id is required in the message or as morgId in the token.'),
    );
    const { body } = await post(token, { message: { ...message('a'), morgId: 'north' } }).expect(
      200,
    );
    const record = await instance.platform.broker.readOne(tenant.id, body.partition, body.offset);
    expect(record?.orgId).to.equal('north');
    const both = await tenant.post(path, { message: { ...message('a'), morgId: 'north' } });
    const other = await instance.platform.broker.readOne(
      tenant.id,
      both.body.partition as number,
      both.body.offset as number,
    );
    expect(other?.orgId).to.equal('org');
  });

  // spec/gateway.md R3, R6
  it('needs a token, and no role', async () => {
    const none = await request(instance.url).post(path).send({ message: {} }).expect(401);
    expect(none.body).to.deep.equal(errorBody(401, none.body.error.message as string));
    expect(none.headers['www-authenticate']).to.equal('Bearer');
    await post('nonsense', { message: {} }).expect(401);
    await post(await instance.token('', []), { message: {} }).expect(401);
    await post(await instance.token(tenant.id, []), { message: {} }).expect(200);
  });

  describe('of batches', () => {
    // spec/gateway.md R10
    it('answers each event in its place', async () => {
      const { body } = await tenant
        .post(`${path}/batch`, [
          { message: message('b') },
          { key: 'x' },
          7,
          { message: message('b') },
        ])
        .expect(200);
      expect(body.map((each: { status?: string }) => each.status ?? null)).to.deep.equal([
        'published',
        null,
        null,
        'published',
      ]);
      expect(body[3].offset).to.equal(body[0].offset + 1);
      const missing = errorBody(400, "'message' is required and must be a JSON object");
      expect(body.slice(1, 3)).to.deep.equal([missing, missing]);
    });

    // spec/gateway.md R10
    it('takes none, and 1,000, and not 1,001', async () => {
      const none = await tenant.post(`${path}/batch`, []).expect(200);
      expect(none.body).to.deep.equal([]);
      const before = await summary(tenant);
      const events = Array.from({ length: 1000 }, (_each, index) => ({
        message: message(`c-${index}`),
      }));
      const { body } = await tenant.post(`${path}/batch`, events).expect(200);
      expect(body).to.have.length(1000);
      const more = await tenant
        .post(`${path}/batch`, [...events, ...events.slice(0, 1)])
        .expect(400);
      expect(more.body).to.deep.equal(errorBody(400, more.body.error.message as string));
      expect((await summary(tenant)).accepted).to.equal(before.accepted + 1000);
    });

    it('refuses what is no array', async () => {
      const { body } = await tenant.post(`${path}/batch`, { message: {} }).expect(400);
      expect(body).to.deep.equal(errorBody(400, 'The body must be a list, such as ["value"]'));
    });
  });

  // spec/rating.md R69
  it('gives concurrent events offsets of their own, without gaps', async () => {
    const { body: first } = await tenant.post(path, { message: message('gapless') }).expect(200);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => tenant.post(path, { message: message('gapless') })),
    );
    const offsets = answers.map(({ body }) => body.offset as number).sort((a, b) => a - b);
    expect(offsets).to.deep.equal(
      offsets.map((_each, index) => (first.offset as number) + 1 + index),
    );
  });
});
