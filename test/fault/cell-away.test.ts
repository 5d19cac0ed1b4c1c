import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { requireKnownCells, prepareCells } from '../../src/process/prepare-cells.js';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { startTestCell, type StoppableCell } from '../support/servers/cells.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { waitUntilRated } from '../support/billing/usage.js';

const event = (serviceId: string, number: number) => ({
  message: {
    externalTransactionId: `e-${number}`,
    serviceId,
    billingAccountRef: demoAccount.externalId,
    eventTimestamp: '2026-10-05T12:00:00Z',
    dimensions: { api_calls: '2', priority: '1', region: 'us' },
  },
});

/** spec/platform.md R123 and R127. Two PostgreSQL servers, one of which is stopped. */
describe('a cell that is away', function () {
  this.timeout(480_000);
  let cell: StoppableCell;
  let instance: TestInstance;
  let here: TestTenant;
  let there: TestTenant;
  const services = new Map<TestTenant, string>();
  let accountId = '';
  before(async () => {
    cell = await startTestCell('eu1');
    instance = await openTestInstance({ withWorkers: true, cells: [cell] });
    here = await instance.tenant();
    there = await instance.tenant(['ADMIN'], undefined, 'eu1');
    for (const tenant of [here, there]) {
      const account = await tenant.post(`${external}/accounts`, demoAccount).expect(201);
      if (tenant === here) accountId = String((account.body as { id: unknown }).id);
      const { body } = await tenant.post(`${external}/services`, demoService).expect(201);
      services.set(tenant, String((body as { id: unknown }).id));
      await tenant.post('/v1/ingest/usage', event(services.get(tenant) ?? '', 1)).expect(200);
      await waitUntilRated(tenant, 1);
    }
  });
  after(async () => {
    await instance.close();
    await cell.remove();
  });

  const readyz = async () => {
    const answer = await fetch(`${instance.url}/readyz`);
    return { status: answer.status, body: (await answer.json()) as object };
  };

  it('costs its own tenants 503 with Retry-After, and nobody else anything', async () => {
    await cell.stop();
    const begun = performance.now();
    const answer = await there.get(`${external}/accounts`).expect(503);
    expect(answer.headers['retry-after']).to.match(/^\d+$/);
    await there.post(`${external}/accounts`, { ...demoAccount, externalId: 'b' }).expect(503);
    expect(performance.now() - begun).to.be.lessThan(5_000);
    // spec/gateway.md R8: the log could not be written, so the event has to be sent again.
    await there.post('/v1/ingest/usage', event(services.get(there) ?? '', 2)).expect(502);
    const serviceId = services.get(here) ?? '';
    for (let number = 2; number <= 20; number += 1) {
      await here.get(`${external}/accounts`).expect(200);
      await here.post('/v1/ingest/usage', event(serviceId, number)).expect(200);
    }
    await waitUntilRated(here, 20);
    const edit = { id: accountId, description: 'still edited' };
    await here.post(`${external}/run/billing/account/edit`, edit).expect(200);
    const { status, body } = await readyz();
    expect(status).to.equal(200);
    expect(body).to.deep.include({ status: 'ready', database: true, cells: { eu1: false } });
  });

  it('does not keep a process from starting', async () => {
    const [prepared] = await prepareCells([
      { name: 'eu1', url: cell.url, ownerUrl: undefined, directUrl: undefined },
    ]);
    expect(prepared?.absence).to.match(/ECONNREFUSED/);
    const beside = await openTestInstance({ beside: instance, cells: [cell], withWorkers: true });
    try {
      const tenant = await beside.tenant(['ADMIN'], here.id);
      await tenant.get(`${external}/accounts`).expect(200);
    } finally {
      await beside.close();
    }
  });

  it('serves again without a restart when it is back, and what was sent before is there', async () => {
    await cell.start();
    for (const deadline = Date.now() + 20_000; ; await wait(100)) {
      const answer = await fetch(`${instance.url}${external}/accounts`, {
        headers: { authorization: `Bearer ${there.token}` },
      });
      if (answer.status === 200) break;
      if (Date.now() > deadline) throw new Error(`It answers ${answer.status}.`);
    }
    await there.post('/v1/ingest/usage', event(services.get(there) ?? '', 2)).expect(200);
    await waitUntilRated(there, 2);
  });

  it('must be named by CELLS while tenants are in it', async () => {
    const refused = requireKnownCells(instance.databaseUrl, []).then(
      () => 'nothing',
      ({ message }: Error) => message,
    );
    expect(await refused).to.equal(
      "1 tenants are in the cell 'eu1', which CELLS does not name: add eu1=postgres://… to CELLS.",
    );
    await requireKnownCells(instance.databaseUrl, [cell]);
  });
});
