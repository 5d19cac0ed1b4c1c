import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { expect } from 'chai';
import {
  listCodec,
  payloadCodec,
  type PayloadKeys,
} from '../../src/platform/temporal/payload-codec.js';
import { openPlatform, type Platform } from '../../src/process/platform.js';
import { startWorkers } from '../../src/worker/main.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { until } from '../start/workbench.js';
import { testServers } from '../support/servers/servers.js';
import { createService, send, usage, waitUntilRated } from '../support/billing/usage.js';

const toPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const oldKey = randomBytes(32);
const newKey = randomBytes(32);
const old: PayloadKeys = { current: 'old', byId: new Map([['old', oldKey]]) };
const both: PayloadKeys = {
  current: 'new',
  byId: new Map([
    ['new', newKey],
    ['old', oldKey],
  ]),
};

const company = 'Quuxwell Confidential Holdings';
const person = 'Wilhelmina-Zebulon';
const account = (ExternalId: string) => ({
  Company_Name: company,
  First_Name: person,
  Last_Name: 'Miller',
  ExternalId,
  Line1: '1 Hidden Lane',
  City: 'Springfield',
  State: 'IL',
  Zip_Code: '62701',
  Country: 'US',
  Currency: 'USD',
});
const secrets = [company, person, 'Hidden Lane'];

/** Which of the secrets can be read in what Temporal holds of the workflows of an instance. */
async function readableIn(instance: TestInstance, atLeast: number): Promise<string[]> {
  const { waiter, taskQueue } = instance.platform.temporal;
  const query = `TaskQueue = "${taskQueue}"`;
  let ids: string[] = [];
  while (ids.length < atLeast) {
    ids = [];
    for await (const { workflowId } of waiter.workflow.list({ query })) ids.push(workflowId);
  }
  const parts: Buffer[] = [];
  for (const id of ids) {
    const handle = waiter.workflow.getHandle(id);
    const { raw } = await handle.describe();
    const { History } = temporal.api.history.v1;
    parts.push(Buffer.from(History.encode(await handle.fetchHistory()).finish()));
    parts.push(Buffer.from(JSON.stringify(raw)));
  }
  const all = Buffer.concat(parts);
  return secrets.filter((text) => all.includes(text));
}

async function createTwice(tenant: TestTenant): Promise<void> {
  const path = `${external}/run/billing/account/create`;
  await tenant.post(path, account('sealed')).expect(200);
  // Its failure is kept too, with a message and a stack.
  await tenant.post(path, account('sealed')).expect(409);
}

describe('what Temporal keeps', function () {
  // The workflows may have to be bundled first, twice: with sealed failures and without.
  this.timeout(120_000);
  const closers: (() => Promise<void>)[] = [];
  const open = async (options: Parameters<typeof openTestInstance>[0]): Promise<TestInstance> => {
    const instance = await openTestInstance(options);
    closers.push(() => instance.close());
    return instance;
  };
  /** Another process of an instance, with keys of its own. */
  const join = async (instance: TestInstance, payloadKeys?: PayloadKeys): Promise<Platform> => {
    const { temporal: server } = await testServers();
    const { config } = instance.platform;
    const platform = await openPlatform(
      { ...config, payloadKeys },
      { databaseUrl: instance.databaseUrl, temporal: server },
    );
    closers.push(() => platform.close());
    return platform;
  };
  const startLater = async (tenant: TestTenant): Promise<string> => {
    const { body } = await tenant
      .post('/v1/workflows/account-create/execute', { data: account('later'), async: true })
      .expect(200);
    return String(body.executionId);
  };
  const ended = async (tenant: TestTenant, id: string): Promise<string> => {
    const path = `/v1/workflows/account-create/executions/${id}`;
    for (;;) {
      const { body } = await tenant.get(path).expect(200);
      if (body.status !== 'running') return String(body.status);
    }
  };
  afterEach(async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  });

  it('can be read in its UI without keys', async () => {
    const instance = await open({ withWorkers: true });
    await createTwice(await instance.tenant());
    expect(await readableIn(instance, 2)).to.deep.equal(secrets);
  });

  it('holds nothing of an account that can be read, with keys, and flows and rating work', async () => {
    const instance = await open({ withWorkers: true, payloadKeys: old });
    const tenant = await instance.tenant();
    await createTwice(tenant);
    const serviceId = await createService(tenant, 'Calls');
    await send(tenant, usage('sealed', serviceId));
    expect(await waitUntilRated(tenant, 1)).to.include({ rated: 1 });
    const run = { data: { periodStart: '2026-03-01', periodEnd: '2026-03-31' } };
    const billed = await tenant.post('/v1/workflows/billing-run/execute', run).expect(200);
    expect(billed.body.output.invoiceCount).to.equal(1);
    expect(await readableIn(instance, 4)).to.deep.equal([]);
  });

  it('is read under an old key by processes that write under a new one', async () => {
    // Nobody works on it before the keys are changed.
    const instance = await open({ payloadKeys: old });
    const tenant = await instance.tenant();
    const id = await startLater(tenant);
    const platform = await join(instance, both);
    const workers = await startWorkers(platform);
    closers.push(() => workers.drain());
    expect(await ended(tenant, id)).to.equal('completed');
    const key = `${tenant.id}/account/later`;
    // Its result was written under the new key, which those who have the old one alone cannot read.
    const result = (of: Platform): Promise<unknown> =>
      of.temporal.waiter.workflow.getHandle(key).result();
    expect(await result(platform)).to.have.property('name');
    const fault = await result(instance.platform).then(
      () => 'read',
      (error: unknown) => String(error),
    );
    expect(fault).to.include("the key 'new', which TEMPORAL_PAYLOAD_KEYS does not have");
    expect(await readableIn(instance, 1)).to.deep.equal([]);
  });

  const unsealed = async (unsealedUntil: Date) => {
    const instance = await open({});
    const tenant = await instance.tenant();
    const id = await startLater(tenant);
    const platform = await join(instance, { ...both, unsealedUntil });
    const workers = await startWorkers(platform);
    closers.push(() => workers.drain());
    return { tenant, id, platform };
  };

  it('that was written before there were keys goes on with them until a stated instant', async () => {
    const { tenant, id } = await unsealed(new Date(Date.now() + 3_600_000));
    expect(await ended(tenant, id)).to.equal('completed');
  });

  it('that is not sealed is refused where there are keys', async () => {
    const { tenant, id, platform } = await unsealed(new Date(Date.now() - 1));
    // Its task fails before any of its code runs, and Temporal shows why.
    const handle = platform.temporal.waiter.workflow.getHandle(`${tenant.id}/account/later`);
    const failed = async () =>
      (await handle.fetchHistory()).events?.find(
        ({ workflowTaskFailedEventAttributes: task }) => task !== undefined && task !== null,
      );
    await until(async () => (await failed()) !== undefined, 20_000, 'the refusal');
    const { body } = await tenant.get(`${external}/accounts`).expect(200);
    expect(body.data.totalElements).to.equal(0);
    const path = `/v1/workflows/account-create/executions/${id}`;
    expect((await tenant.get(path).expect(200)).body.status).to.equal('running');
  });

  it('and lists is read for what can be read', async () => {
    const codec = listCodec(payloadCodec(both));
    const [own] = await payloadCodec(both).encode([toPayload('own')]);
    const foreign = { metadata: { encoding: Buffer.from('json/odd') }, data: Buffer.from('x') };
    const read = await codec.decode([own ?? foreign, toPayload('plain'), foreign]);
    const values = read.map((payload) => defaultPayloadConverter.fromPayload(payload));
    expect(values).to.deep.equal(['own', null, null]);
  });
});
