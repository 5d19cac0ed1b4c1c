import { Admin, ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka';
import { expect } from 'chai';
import { usageTopic } from '../../src/messages/usage-log.js';
import { until } from '../start/workbench.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { useInstance } from '../support/servers/use-instance.js';
import { told } from './told.js';

const brokers = told('TEST_KAFKA_BROKERS');

/** What only Kafka has: other producers, transactions and their markers, which take offsets too. */
describe('a topic of Kafka that others write to', () => {
  const instance = useInstance({ withWorkers: true });

  it('is rated without what was taken back, and the numbers add up', async () => {
    const tenant = await instance.tenant();
    await createAccount(tenant, 'a');
    const serviceId = await createService(tenant, 'API');
    const event = () => usage('a', serviceId);
    await send(tenant, event());
    const producer = new Producer<string, string, string, string>({
      clientId: 'other',
      bootstrapBrokers: brokers.split(','),
      serializers: stringSerializers,
      idempotent: true,
      acks: ProduceAcks.ALL,
      transactionalId: `other-${tenant.id}`,
    });
    const { prefix } = instance.platform.config.kafka ?? { prefix: '' };
    const topic = `${prefix}.${usageTopic(tenant.id)}`;
    const partition = (await instance.platform.broker.ends(tenant.id))[0]?.partition ?? 0;
    const write = async (values: readonly string[], isKept: boolean): Promise<void> => {
      const transaction = await producer.beginTransaction();
      await transaction.send({ messages: values.map((value) => ({ topic, partition, value })) });
      await (isKept ? transaction.commit() : transaction.abort());
    };
    try {
      const texts = [event(), event()].map((each) => JSON.stringify(each));
      await write(texts, true);
      await write([JSON.stringify(event())], false);
      await write([JSON.stringify(event())], false);
      await write(['no JSON\0'], true);
      // A transaction's caller hears of its end before Kafka has written the marker.
      const isMarked = async () =>
        (await instance.platform.broker.ends(tenant.id))[0]?.offset === 10;
      await until(isMarked, 10_000, 'the last marker');
      await send(tenant, event());
    } finally {
      await producer.close();
    }
    // Offsets 0 to 10: five of them hold events that were rated or rejected, four markers and two
    // events that were taken back hold none.
    const expected = { accepted: 5, rated: 4, duplicate: 0, rejected: 1, pending: 0 };
    expect(await waitUntilRated(tenant, 5)).to.deep.equal(expected);
    expect(await instance.platform.broker.ends(tenant.id)).to.deep.equal([
      { partition, offset: 11 },
    ]);
    const { body } = await tenant.get('/v1/usage-events').expect(200);
    expect(body.pagination.total).to.equal(5);
    const offsets = (body.data as { offset: number; status: string }[]).map((each) => each.offset);
    expect(offsets).to.deep.equal([10, 8, 2, 1, 0]);
  });

  it('says from where on it has records, when the oldest are gone', async () => {
    const tenant = await instance.tenant();
    const { broker, config } = instance.platform;
    const message = {
      tenantId: tenant.id,
      orgId: 'org',
      partitionKey: 'a',
      key: 'a',
      message: '{}',
    };
    const places = [];
    for (let n = 0; n < 6; n += 1) places.push(await broker.publish(message));
    const [{ partition } = { partition: 0 }] = places;
    expect(await broker.firstKept(tenant.id, partition, 0)).to.equal(0);
    const admin = new Admin({ clientId: 'other', bootstrapBrokers: brokers.split(',') });
    try {
      const name = `${config.kafka?.prefix ?? ''}.${usageTopic(tenant.id)}`;
      await admin.deleteRecords({
        topics: [{ name, partitions: [{ partition, offset: 4n }] }],
      });
    } finally {
      await admin.close();
    }
    expect(await broker.firstKept(tenant.id, partition, 0)).to.equal(4);
    expect(await broker.firstKept(tenant.id, partition, 5)).to.equal(5);
    expect((await broker.read(tenant.id, partition, 4, 6)).records).to.have.length(2);
  });
});
