import { createSocket } from 'node:dgram';
import { expect } from 'chai';
import { openPlatform } from '../../../src/process/platform.js';
import { startWorkers } from '../../../src/worker/main.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { openReceiver, waitUntilDelivered, type Receiver } from '../../support/servers/receiver.js';
import { asOwner } from '../../support/servers/rows.js';
import { testServers } from '../../support/servers/servers.js';

/** An attempt that nobody answers takes longer than any of these tests waits for a delivery. */
const timeoutMs = 60_000;

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('many deliveries of webhooks', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let receiver: Receiver;
  let things: string;
  beforeEach(async () => {
    instance = await openTestInstance({ withWorkers: true, webhooks: { timeoutMs } });
    tenant = await instance.tenant();
    receiver = await openReceiver();
    const type = await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    things = `/v1/mobjects/${String(type.body.id)}/mdata`;
  });
  afterEach(async () => {
    await receiver.close();
    await instance.close();
  });

  const register = async (changes: object = {}, owner = tenant): Promise<string> => {
    const body = { url: receiver.url, events: ['mdata.created'], secret, ...changes };
    return (await owner.post('/v1/webhooks', body).expect(201)).body.id as string;
  };

  it('of one tenant are not held up by a receiver of another that hangs', async () => {
    receiver.answer = () => undefined;
    await register();
    const data = Array.from({ length: 300 }, (_each, n) => ({ n }));
    await tenant.post(`${things}/bulk`, { data }).expect(200);
    await receiver.until((all) => all.length >= 5);
    const other = await instance.tenant();
    const well = await openReceiver();
    await register({ url: well.url }, other);
    const type = await other.post('/v1/mobjects', { name: 'thing' }).expect(201);
    const path = `/v1/mobjects/${String(type.body.id)}/mdata`;
    for (let n = 0; n < 5; n += 1) await other.post(path, { data: { n } }).expect(201);
    await well.until((all) => all.length === 5);
    await well.close();
    // They came before the other's turn was over: an attempt of each of them would take minutes.
    expect(receiver.received.length).to.be.lessThan(300);
  });

  it('are started once, however many workers look for them', async () => {
    const { temporal } = await testServers();
    const { databaseUrl, platform } = instance;
    const second = await openPlatform(platform.config, { databaseUrl, temporal });
    const workers = await startWorkers(second);
    const webhookId = await register();
    const data = Array.from({ length: 100 }, (_each, n) => ({ n }));
    await tenant.post(`${things}/bulk`, { data }).expect(200);
    await receiver.until((all) => all.length >= 100);
    await waitUntilDelivered(tenant, webhookId);
    await workers.drain();
    await second.close();
    expect(new Set(receiver.received.map(({ id }) => id)).size).to.equal(100);
    expect(receiver.received).to.have.length(100);
  });
});

describe('webhooks of an attacker', function () {
  this.timeout(120_000);

  const attack = async (
    webhooks: Parameters<typeof openTestInstance>[0],
    urlOf: (n: number) => string,
    giveUp: () => Promise<void>,
  ): Promise<void> => {
    const instance = await openTestInstance({ withWorkers: true, ...webhooks });
    const [attacker, neighbour] = [await instance.tenant(), await instance.tenant()];
    const well = await openReceiver();
    const typeOf = async (owner: TestTenant): Promise<string> => {
      const { body } = await owner.post('/v1/mobjects', { name: 'thing' }).expect(201);
      return `/v1/mobjects/${String(body.id)}/mdata`;
    };
    const [theirs, ours] = [await typeOf(attacker), await typeOf(neighbour)];
    const registered = { events: ['mdata.created'], secret };
    await neighbour.post('/v1/webhooks', { ...registered, url: well.url }).expect(201);
    await neighbour.post(ours, { data: { n: 0 } }).expect(201);
    await well.until((all) => all.length === 1);
    for (let n = 0; n < 40; n += 1) {
      await attacker.post('/v1/webhooks', { ...registered, url: urlOf(n) }).expect(201);
    }
    const data = Array.from({ length: 50 }, (_each, n) => ({ n }));
    await attacker.post(`${theirs}/bulk`, { data }).expect(200);
    for (let n = 1; n <= 10; n += 1) {
      await neighbour.post(ours, { data: { n } }).expect(201);
      // Where it waited for one of the attacker's attempts to end, it would not come in time.
      await well.until((all) => all.length === n + 1);
    }
    await well.close();
    // Attempts that are under way would be waited for.
    await giveUp();
    await instance.close();
  };

  it('whose names nobody answers for hold up no delivery of a neighbour', async () => {
    const silent = createSocket('udp4');
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
    const nameServers = [`127.0.0.1:${silent.address().port}`];
    const giveUp = () => new Promise<void>((resolve) => silent.close(() => resolve()));
    await attack({ webhooks: { nameServers, timeoutMs } }, (n) => `http://n${n}.example/`, giveUp);
  });

  it('whose receivers never answer hold up no delivery of a neighbour', async () => {
    const hanging = await openReceiver();
    hanging.answer = () => undefined;
    const giveUp = () => hanging.close();
    await attack({ webhooks: { timeoutMs } }, (n) => `${hanging.url}${n}`, giveUp);
  });
});

describe('deliveries that were taken up by a process that died', () => {
  it('are taken up again, with the attempt that is due', async () => {
    const instance = await openTestInstance();
    const tenant = await instance.tenant();
    const receiver = await openReceiver();
    const webhook = { url: receiver.url, events: ['mdata.created'], secret };
    const { body } = await tenant.post('/v1/webhooks', webhook).expect(201);
    const path = `/v1/webhooks/${String(body.id)}`;
    const claimed = await tenant.post(`${path}/test`).expect(200);
    const retrying = await tenant.post(`${path}/test`).expect(200);
    // No workflow knows of either: of the first none was started, that of the second is lost.
    await asOwner(instance.databaseUrl, async (client) => {
      await client.query(
        `update webhook_delivery set watch_at = now() - interval '1 second', record_id = id,
           status = case when id = $1 then 'sending' else 'retrying' end,
           attempts = case when id = $1 then 0 else 2 end
         where webhook_id = $2`,
        [claimed.body.id, body.id],
      );
    });
    const workers = await startWorkers(instance.platform);
    const received = await receiver.until((all) => all.length === 2);
    expect(new Set(received.map(({ id }) => id))).to.deep.equal(
      new Set([claimed.body.id, retrying.body.id]),
    );
    await waitUntilDelivered(tenant, body.id as string);
    const list = await tenant.get(`${path}/deliveries`).expect(200);
    const numbers = (list.body.data as { id: string; attempts: { number: number }[] }[]).map(
      ({ id, attempts }) => [id, attempts.map(({ number }) => number)],
    );
    expect(numbers).to.have.deep.members([
      [claimed.body.id, [1]],
      [retrying.body.id, [3]],
    ]);
    await workers.drain();
    await receiver.close();
    await instance.close();
  });
});

describe('a webhook that nothing reaches', () => {
  it('is switched off in the end, with the reason', async () => {
    const instance = await openTestInstance({
      withWorkers: true,
      // Lasting is here what goes on for longer than no time at all.
      webhooks: { delaysMs: [0, 50, 50], failureMsMax: 20 },
    });
    const tenant = await instance.tenant();
    const receiver = await openReceiver();
    await receiver.close();
    const webhook = { url: receiver.url, events: ['mdata.created'], secret };
    const { body } = await tenant.post('/v1/webhooks', webhook).expect(201);
    await tenant.post(`/v1/webhooks/${String(body.id)}/test`).expect(200);
    await waitUntilDelivered(tenant, body.id as string);
    const off = await tenant.get(`/v1/webhooks/${String(body.id)}`).expect(200);
    expect(off.body.active).to.equal(false);
    expect(off.body.disabledReason).to.match(/^Nothing has reached it since .*ECONNREFUSED/);
    await instance.close();
  });
});
