import { expect } from 'chai';
import { createAccessKey } from '../../src/access/access-keys.js';
import { examples } from '../../src/schemas/openapi/examples.js';
import type { Operation } from '../../src/schemas/http/operation.js';
import { accessOf } from '../../src/schemas/http/operation-access.js';
import { declaredOperations } from '../support/http/answers.js';
import { cableToDatabase } from '../support/servers/cable.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { sendRaw, type RawAnswer } from '../support/http/raw.js';
import { openPhotographer, type Photographer, type Snapshot } from '../support/servers/rows.js';
import { waitUntilRated } from '../support/billing/usage.js';
import { bodyIn, buildWorld, pathIn, queryIn, type World } from '../support/http/world.js';

describe('without the database', () => {
  let instance: TestInstance;
  const cable = cableToDatabase();
  let world: World;
  let accessKey: string;
  let photographer: Photographer;
  let stored: Snapshot;

  const send = (operation: Operation, bearer: string): Promise<RawAnswer> => {
    const { method, path, example } = operation;
    return sendRaw(instance.url, {
      method,
      path: pathIn(world, path) + queryIn(world, operation),
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      ...(example ? { body: JSON.stringify(bodyIn(world, example)) } : {}),
    });
  };

  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      flowTimeoutMs: 2_000,
      route: cable.route,
    });
    world = await buildWorld(await instance.tenant());
    const { id: tenantId } = world.tenant;
    accessKey = await createAccessKey(instance.platform.database.platform, {
      tenantId,
      orgId: 'org',
      roles: ['ADMIN'],
      name: null,
    });
    photographer = await openPhotographer(instance.databaseUrl);
    stored = await photographer.take();
    await cable.cut();
  });
  after(async () => {
    await photographer.close();
    await instance.close();
  });

  for (const operation of declaredOperations) {
    const { id } = operation;

    it(`${id} says so, or does without`, async () => {
      const answer = await send(operation, world.tenant.token);
      if (answer.status === operation.success.status) return;
      // 502: the broker could not take an event. 504: a workflow waits for the database to return.
      expect(answer.status, answer.text).to.be.oneOf([502, 503, 504]);
      if (answer.status === 503) expect(answer.headers['retry-after']).to.match(/^\d+$/);
    }).timeout(120_000);

    if (accessOf(operation) === 'public') continue;
    it(`${id} cannot look up an access key`, async () => {
      const answer = await send(operation, accessKey);
      expect(answer.status, answer.text).to.equal(503);
      expect(answer.headers['retry-after']).to.match(/^\d+$/);
    });
  }

  // spec/platform.md R49
  it('the process is alive and not ready', async () => {
    const alive = await fetch(`${instance.url}/healthz`);
    expect(alive.status).to.equal(200);
    const ready = await fetch(`${instance.url}/readyz`);
    expect(ready.status).to.equal(503);
    expect(await ready.json()).to.include({ status: 'not ready', database: false });
  });

  it('nothing was written; afterwards requests are served and usage is rated again', async () => {
    expect(await photographer.take()).to.deep.equal(stored);
    await cable.mend();
    await world.tenant.get('/api/v1/external/accounts').expect(200);
    const event = bodyIn(world, examples.usageEvent) as typeof examples.usageEvent;
    event.message.externalTransactionId = 'after the outage';
    await world.tenant.post('/v1/ingest/usage', event).expect(200);
    const summary = await waitUntilRated(world.tenant, 2);
    expect(summary).to.include({ accepted: 2, rated: 2 });
  });
});
