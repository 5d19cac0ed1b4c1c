import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { Problem } from '../../src/kernel/problem.js';
import { usageTopic } from '../../src/messages/usage-log.js';
import type { UsageBroker, UsageMessage } from '../../src/messages/broker.js';
import { partitionOf } from '../../src/messages/usage/log-partition.js';
import { openPlatform, type Platform } from '../../src/process/platform.js';
import { startWorkers, type RunningWorkers } from '../../src/worker/main.js';
import type { Cable } from '../support/servers/cable.js';
import type { TestInstance } from '../support/servers/instance.js';
import { testServers } from '../support/servers/servers.js';
import {
  createAccount,
  createService,
  summary,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { brokerKinds, ingestTimeoutMs } from './brokers.js';

const message = (tenantId: string, text: string, more: Partial<UsageMessage> = {}) => ({
  tenantId,
  partitionKey: 'a',
  key: null,
  orgId: 'org',
  message: JSON.stringify(text),
  ...more,
});

const range = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_each, index) => from + index);

/** The problem that a promise is rejected with. */
const problemOf = async (promise: Promise<unknown>): Promise<Problem> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw new Error('It was not rejected with a problem.', { cause: error });
};

async function until(isDone: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen.`);
    await wait(50);
  }
}

for (const kind of brokerKinds) {
  describe(`the broker ${kind.name}`, () => {
    let instance: TestInstance;
    let cable: Cable;
    let broker: UsageBroker;
    let serial = 0;
    const newTenant = (): string => `broker-${(serial += 1)}`;

    before(async () => {
      ({ instance, cable } = await kind.open());
      ({ broker } = instance.platform);
    });
    after(() => instance.close());

    const readAll = async (tenantId: string, partition: number) => {
      const end = (await broker.ends(tenantId)).find((each) => each.partition === partition);
      const { records } = await broker.read(tenantId, partition, 0, end?.offset ?? 0);
      return records;
    };

    it('answers each of many at once with an offset of its own', async () => {
      const tenantId = newTenant();
      const keys = range(0, 40).map((index) => `account-${index % 11}`);
      const rounds = await Promise.all(
        range(0, 5).map(() =>
          Promise.all(
            keys.map((partitionKey) =>
              broker.publish(message(tenantId, partitionKey, { partitionKey })),
            ),
          ),
        ),
      );
      const all = rounds.flat();
      expect(new Set(all.map(({ topic }) => topic))).to.deep.equal(new Set([usageTopic(tenantId)]));
      for (const published of rounds) {
        expect(published.map(({ partition }) => partition)).to.deep.equal(keys.map(partitionOf));
      }
      const ends = await broker.ends(tenantId);
      const partitions = ends.filter(({ offset }) => offset > 0).map(({ partition }) => partition);
      expect(new Set(partitions)).to.deep.equal(new Set(keys.map(partitionOf)));
      for (const { partition, offset: end } of ends) {
        const offsets = all.filter((each) => each.partition === partition);
        const sorted = offsets.map(({ offset }) => offset).sort((a, b) => a - b);
        expect(sorted).to.deep.equal(range(0, end));
        const texts = (await readAll(tenantId, partition)).map((record) => record.message);
        for (const [index, { offset }] of all.entries()) {
          if (all[index]?.partition !== partition) continue;
          expect(texts[offset]).to.equal(JSON.stringify(keys[index % keys.length]));
        }
      }
    });

    it('keeps the order of what is published together', async () => {
      const tenantId = newTenant();
      const texts = range(0, 1000).map((index) => `${index}`);
      const published = await broker.publishAll(texts.map((text) => message(tenantId, text)));
      const partition = partitionOf('a');
      expect(published.map(({ offset }) => offset)).to.deep.equal(range(0, 1000));
      const records = await readAll(tenantId, partition);
      expect(records.map((record) => JSON.parse(record.message))).to.deep.equal(texts);
    });

    // spec/gateway.md R9
    it('gives back what it was given', async () => {
      const tenantId = newTenant();
      const since = Date.now();
      const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const given = [
        {
          key: 'Schlüssel 鍵 🔑',
          orgId: 'Ørg',
          trace,
          message: '{"a":"\\u0000 \\ud800 \u{1F600} \\""}',
        },
        {
          key: null,
          orgId: null,
          trace: null,
          message: '{"quantity":0.10000000000000000001,"b":1e400}',
        },
        { key: '', orgId: 'o', trace: null, message: '{}' },
      ];
      for (const each of given) await broker.publish(message(tenantId, '', each));
      const records = await readAll(tenantId, partitionOf('a'));
      const parts = records.map(({ key, orgId, trace: of, message: text }) => ({
        key,
        orgId,
        trace: of,
        message: text,
      }));
      expect(parts).to.deep.equal(given);
      for (const { receivedAt } of records) {
        expect(receivedAt.getTime()).to.be.within(since - 1, Date.now() + 1);
      }
    });

    it('takes messages of 1 MiB, many at once, and reads them in pieces', async () => {
      const tenantId = newTenant();
      const large = 'x'.repeat(1024 * 1024 - 100);
      await broker.publish(message(tenantId, 'first, which makes the topic'));
      const published = await Promise.all(
        range(0, 12).map((index) => broker.publish(message(tenantId, `${index}${large}`))),
      );
      const [{ partition } = { partition: 0 }] = published;
      const starts: string[] = [];
      let pieces = 0;
      for (let offset = 1; offset < 13; pieces += 1) {
        const slice = await broker.read(tenantId, partition, offset, 13);
        expect(slice.records.length).to.be.greaterThan(0);
        starts.push(...slice.records.map((record) => record.message.split('x')[0] ?? ''));
        offset = slice.nextOffset;
      }
      expect(starts).to.have.members(range(0, 12).map((index) => `"${index}`));
      expect(pieces).to.be.greaterThan(1);
    });

    it('reads one record, and none where there is none', async () => {
      const tenantId = newTenant();
      const { partition, offset } = await broker.publish(message(tenantId, 'one'));
      const one = await broker.readOne(tenantId, partition, offset);
      expect(one).to.include({ message: '"one"', offset });
      expect(await broker.readOne(tenantId, partition, offset + 1)).to.equal(undefined);
      expect(await broker.readOne(newTenant(), partition, 0)).to.equal(undefined);
      expect(await broker.ends(newTenant())).to.deep.equal([]);
    });

    it('says when the first of several records was received', async () => {
      const tenantId = newTenant();
      const places = [];
      const receipts = [];
      for (const partitionKey of ['a', 'b', 'h']) {
        const { partition, offset } = await broker.publish(
          message(tenantId, partitionKey, { partitionKey }),
        );
        places.push({ partition, offset });
        receipts.push((await broker.readOne(tenantId, partition, offset))?.receivedAt);
        await wait(2);
      }
      const [first, second] = receipts;
      // Several of a row, the last of which is asked for.
      const many = range(0, 3).map((index) =>
        message(tenantId, `d-${index}`, { partitionKey: 'd' }),
      );
      const last = (await broker.publishAll(many)).at(-1);
      expect(new Set(places.map(({ partition }) => partition)).size).to.equal(3);
      const { partition = 0, offset = 0 } = last ?? {};
      const late = await broker.oldestReceipt(tenantId, [{ partition, offset }]);
      expect(late?.getTime()).to.be.within(second?.getTime() ?? NaN, Date.now() + 1);
      expect(
        await broker.oldestReceipt(tenantId, [...places, { partition, offset }]),
      ).to.deep.equal(first);
      expect(await broker.oldestReceipt(tenantId, places.slice(1))).to.deep.equal(second);
      expect(await broker.oldestReceipt(tenantId, [])).to.equal(null);
      expect(await broker.oldestReceipt(newTenant(), [])).to.equal(null);
    });

    it('lists the newest first, page by page, and finds a text', async () => {
      const tenantId = newTenant();
      for (const index of range(0, 12)) {
        await broker.publish(message(tenantId, `m-${index}`, { partitionKey: `k-${index % 3}` }));
        await wait(2);
      }
      const from = (await broker.ends(tenantId)).map(({ partition }) => ({ partition, offset: 0 }));
      const texts = async (page: { limit: number; offset: number; containing?: string }) =>
        (await broker.readNewest(tenantId, from, page)).records.map(
          (record) => JSON.parse(record.message) as string,
        );
      expect(await texts({ limit: 3, offset: 0 })).to.deep.equal(['m-11', 'm-10', 'm-9']);
      expect(await texts({ limit: 4, offset: 10 })).to.deep.equal(['m-1', 'm-0']);
      expect(await texts({ limit: 9, offset: 0, containing: '"m-1' })).to.deep.equal([
        'm-11',
        'm-10',
        'm-1',
      ]);
      expect(await broker.readNewest(tenantId, [], { limit: 1, offset: 0 })).to.deep.equal({
        records: [],
        isCut: false,
      });
    });

    it('keeps tenants apart whose ids look alike', async () => {
      const ids = ['a.b', 'a_b', 'a_2eb', 'a_5f2eb', 'A.b'];
      for (const id of ids) {
        await broker.publish(message(id, id));
        const records = await readAll(id, partitionOf('a'));
        expect(records.map((record) => record.message)).to.deep.equal([JSON.stringify(id)]);
      }
    });

    it('tells what waits, soon after it was published, and not what was consumed', async () => {
      const tenantId = newTenant();
      let notices = 0;
      const intake = await broker.openIntake(() => (notices += 1));
      try {
        const { partition } = await broker.publish(message(tenantId, 'x'));
        await broker.publish(message(tenantId, 'y'));
        const mine = async () =>
          (await intake.waiting()).filter((each) => each.tenantId === tenantId);
        await until(async () => notices > 0 && (await mine())[0]?.end === 2, 'being told');
        expect(await mine()).to.deep.equal([{ tenantId, partition, offset: 0, end: 2 }]);
        const consume = (offset: number) =>
          instance.platform.database.platform.raw(
            `insert into usage_consumer (tenant_id, partition, next_offset) values (?, ?, ?)
             on conflict (tenant_id, partition) do update set next_offset = excluded.next_offset`,
            [tenantId, partition, offset],
          );
        await consume(1);
        expect(await mine()).to.deep.equal([{ tenantId, partition, offset: 1, end: 2 }]);
        await consume(2);
        expect(await mine()).to.deep.equal([]);
      } finally {
        await intake.close();
      }
    });

    // spec/gateway.md R8
    it('answers 502 or 504 while it is away, 504 when it hangs, and recovers by itself', async () => {
      const tenant = await instance.tenant();
      const path = '/v1/ingest/usage';
      const ready = async () => {
        const response = await fetch(`${instance.url}/readyz`);
        return (await response.json()) as { broker: boolean };
      };
      await tenant.post(path, { message: {} }).expect(200);
      expect(await ready()).to.include({ broker: true });

      await cable.cut();
      const refused = await tenant.post(path, { message: {} });
      expect(refused.status).to.be.oneOf([502, 504]);
      expect(refused.body).to.deep.equal({
        is_gateway_error: false,
        status_code: refused.status,
        extra_fields: {},
        error: { message: refused.body.error.message as string },
      });
      // The parts are asked once a second at most.
      await until(async () => !(await ready()).broker, 'notice');
      await cable.mend();
      await until(
        async () => (await tenant.post(path, { message: {} })).status === 200,
        'recovery',
      );

      cable.hold();
      const since = Date.now();
      const [late] = await Promise.all([
        problemOf(broker.publish(message(tenant.id, 'late'))),
        tenant.post(path, { message: {} }).expect(504),
        tenant.post(`${path}/batch`, [{ message: {} }]).expect(504),
      ]);
      expect(late).to.include({ kind: 'timeout' });
      expect(late.message).to.equal(`Publishing took longer than ${ingestTimeoutMs} ms.`);
      expect(Date.now() - since).to.be.within(ingestTimeoutMs - 50, ingestTimeoutMs + 3_000);
      await until(async () => !(await ready()).broker, 'notice');
      cable.release();
      await until(
        async () => (await tenant.post(path, { message: {} })).status === 200,
        'recovery',
      );
      await until(async () => (await ready()).broker, 'readiness');
    }).timeout(120_000);
  });

  describe(`usage through ${kind.name}`, function () {
    this.timeout(120_000);
    const running: RunningWorkers[] = [];
    const platforms: Platform[] = [];
    let instance: TestInstance;
    let cable: Cable;

    beforeEach(async () => {
      ({ instance, cable } = await kind.open());
    });
    afterEach(async () => {
      for (const workers of running.splice(0)) await workers.drain();
      for (const platform of platforms.splice(0)) await platform.close();
      await instance.close();
    });

    it('is rated once by several processes, one of which is cut off and one added', async () => {
      const tenant = await instance.tenant();
      await createAccount(tenant, 'a');
      const serviceId = await createService(tenant, 'API');
      // The first process reaches the broker through the cable, the others go straight.
      const servers = await testServers();
      const start = async (platform: Platform) => running.push(await startWorkers(platform));
      const { config } = instance.platform;
      const straight = config.kafka &&
        servers.kafka && { ...servers.kafka, prefix: config.kafka.prefix };
      const another = async (): Promise<Platform> => {
        const platform = await openPlatform(
          { ...config, kafka: straight },
          { databaseUrl: instance.databaseUrl, temporal: servers.temporal },
        );
        platforms.push(platform);
        return platform;
      };
      await start(instance.platform);
      const second = await another();
      await start(second);
      const publish = async (count: number): Promise<void> => {
        for (let round = 0; round < count; round += 1) {
          const events = range(0, 8).map((account) => usage('a', serviceId, { account }));
          await second.broker.publishAll(
            events.map((event, index) =>
              message(tenant.id, '', {
                partitionKey: `k-${index}`,
                message: JSON.stringify(event),
              }),
            ),
          );
        }
      };
      await publish(20);
      await cable.cut();
      await publish(20);
      await start(await another());
      await publish(20);
      await wait(500);
      await cable.mend();
      await publish(20);
      // 80 rounds of 8 events, each of 100 calls at 0.01.
      await until(async () => (await tenant.get('/readyz')).status === 200, 'the way back');
      const expected = { accepted: 640, rated: 640, duplicate: 0, rejected: 0, pending: 0 };
      expect(await waitUntilRated(tenant, 640)).to.deep.equal(expected);
      const { rows } = await tenant.scope.db.read.raw<{ rows: Record<string, string>[] }>(
        `select count(*) as charges, count(distinct external_tran_id) as events,
           sum(amount) as amount from rated_transaction where tenant_id = ?`,
        [tenant.id],
      );
      expect(rows[0]).to.include({ charges: '640', events: '640' });
      expect(Number(rows[0]?.['amount'])).to.equal(640);
      expect(await summary(tenant)).to.deep.equal(expected);
    });
  });
}
