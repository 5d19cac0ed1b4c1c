import { setTimeout as wait } from 'node:timers/promises';
import type { WorkerOptions } from '../../src/worker/main.js';
import { ApplicationFailure } from '@temporalio/common';
import { Context } from '@temporalio/activity';
import { expect } from 'chai';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import {
  cancelTenantMove,
  isMoveRunning,
  readTenantMove,
  startTenantMove,
} from '../../src/flows/cells/tenant-move.js';
import type { MoveProgress } from '../../src/messages/cells/tenant-move.js';
import { verifyAuditChain } from '../../src/queries/access/audit-chain.js';
import { waitUntilRated } from '../support/billing/usage.js';
import { startTestCell, type StoppableCell } from '../support/servers/cells.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';

/** Steps of moves that fail once after they were done, as if their worker had been killed then. */
const killed = new Set<string>();
const seen = new Set<string>();
const killOnce: WorkerOptions['activityInterceptors'] = [
  () => ({
    inbound: {
      async execute(input, next): Promise<unknown> {
        const result: unknown = await next(input);
        const { activityType, workflowExecution } = Context.current().info;
        const key = `${workflowExecution?.runId ?? ''}/${activityType}`;
        if (killed.has(activityType) && !seen.has(key)) {
          seen.add(key);
          throw ApplicationFailure.retryable('Its worker was killed.');
        }
        return result;
      },
    },
  }),
];

/** spec/platform.md R128 to R130. Two PostgreSQL servers. */
describe('a tenant that is moved', function () {
  this.timeout(600_000);
  let cell: StoppableCell;
  let instance: TestInstance;
  before(async () => {
    cell = await startTestCell('eu1');
    instance = await openTestInstance({
      withWorkers: true,
      cells: [cell],
      activityInterceptors: killOnce,
    });
  });
  after(async () => {
    await instance.close();
    await cell.remove();
  });
  afterEach(() => killed.clear());

  const place = () => {
    const { starter, taskQueue, signer } = instance.platform.temporal;
    return { client: starter, taskQueue, signer };
  };
  const start = (tenantId: string, to: string, graceMs = 500) =>
    startTenantMove(place(), { tenantId, to, graceMs });
  const client = () => instance.platform.temporal.waiter;

  /** The last progress of a move that has ended, with the rows that it left removed. */
  const ended = async (tenantId: string): Promise<MoveProgress> => {
    for (const deadline = Date.now() + 240_000; await isMoveRunning(client(), tenantId);) {
      if (Date.now() > deadline) {
        throw new Error(JSON.stringify(await readTenantMove(client(), tenantId)));
      }
      await wait(100);
    }
    return readTenantMove(client(), tenantId);
  };

  const rowsIn = (databaseUrl: string, tenantId: string): Promise<number[]> =>
    asOwner(databaseUrl, async (owner) => {
      const counts: number[] = [];
      for (const table of ['usage_event', 'rated_transaction', 'payment', 'audit', 'account']) {
        const { rows } = await owner.query<{ count: number }>(
          `select count(*)::int as count from ${table} where tenant_id = $1`,
          [tenantId],
        );
        counts.push(rows[0]?.count ?? 0);
      }
      return counts;
    });

  const equip = async (tenant: TestTenant) => {
    const account = await tenant.post(`${external}/accounts`, demoAccount).expect(201);
    const service = await tenant.post(`${external}/services`, demoService).expect(201);
    const { id: accountId } = account.body as { id: string };
    return { accountId, serviceId: String((service.body as { id: unknown }).id) };
  };
  type Equipment = Awaited<ReturnType<typeof equip>>;

  /** Sends usage and payments until it is stopped; what was refused is sent again. */
  const stream = (tenant: TestTenant, { accountId, serviceId }: Equipment) => {
    let isStopped = false;
    const statuses = new Map<number, number>();
    const counts = { events: 0, payments: 0 };
    let longestMs = 0;
    const send = async (path: string, body: object): Promise<boolean> => {
      const answer = await fetch(`${instance.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      return answer.ok;
    };
    const until = async (path: string, body: object): Promise<void> => {
      const begun = performance.now();
      while (!(await send(path, body)) && !isStopped) await wait(20);
      longestMs = Math.max(longestMs, performance.now() - begun);
    };
    const usage = async (): Promise<void> => {
      while (!isStopped) {
        counts.events += 1;
        const message = {
          externalTransactionId: `e-${counts.events}`,
          serviceId,
          billingAccountRef: demoAccount.externalId,
          eventTimestamp: '2026-10-05T12:00:00Z',
          dimensions: { api_calls: '2', priority: '1', region: 'us' },
        };
        await until('/v1/ingest/usage', { message });
      }
    };
    const payments = async (): Promise<void> => {
      while (!isStopped) {
        const payment = {
          accountId,
          amount: 1,
          currency: 'USD',
          paymentDate: '2026-10-05',
          paymentMethod: 'ACH',
          paymentType: 'Pay In',
          paymentReference: `P-${counts.payments + 1}`,
        };
        await until(`${external}/payments`, payment);
        counts.payments += 1;
      }
    };
    const running = Promise.all([usage(), payments()]);
    return async () => {
      isStopped = true;
      await running;
      return { ...counts, statuses, longestMs };
    };
  };

  const moveWhileUsed = async (tenant: TestTenant, equipment: Equipment, to: string) => {
    const stop = stream(tenant, equipment);
    await wait(300);
    // Also where the move fails: nothing may go on sending.
    const progress = await start(tenant.id, to)
      .then(() => ended(tenant.id))
      .catch(async (error: unknown) => {
        await stop();
        throw error;
      });
    const sent = await stop();
    return { progress, sent };
  };

  it('loses and doubles nothing while usage streams and payments are saved', async () => {
    const tenant = await instance.tenant();
    const other = await instance.tenant();
    const equipment = await equip(tenant);
    await equip(other);
    const { progress, sent } = await moveWhileUsed(tenant, equipment, 'eu1');
    expect(progress).to.include({ phase: 'removed', from: 'home' });
    // How long it may be is measured on a quiet machine: `npm run bench -- move`.
    expect(progress.pauseMs).to.be.above(0);
    process.stderr.write(
      `      paused ${Math.round(progress.pauseMs ?? -1)} ms, a request at most ${Math.round(sent.longestMs)} ms; ` +
        `${JSON.stringify([...sent.statuses])}\n`,
    );
    const allowed = [200, 201, 409, 503];
    expect([...sent.statuses.keys()].filter((status) => !allowed.includes(status))).to.deep.equal(
      [],
    );
    const summary = await waitUntilRated(tenant, sent.events);
    expect(summary).to.include({ accepted: sent.events, rated: sent.events, rejected: 0 });
    const [events, rated, payments] = await rowsIn(cell.url, tenant.id);
    expect([events, rated]).to.deep.equal([sent.events, sent.events]);
    // The answer to a payment may be lost, but its reference is saved once.
    expect(payments).to.be.within(sent.payments, sent.payments + 1);
    expect(await rowsIn(instance.databaseUrl, tenant.id)).to.deep.equal([0, 0, 0, 0, 0]);
    const chain = await verifyAuditChain(tenant.scope.db.read, tenant.id);
    expect(chain.fault).to.equal(null);
    await other.get(`${external}/accounts`).expect(200);
  });

  it('is the same after each of its steps was done twice, there and back', async () => {
    for (const name of [
      'beginTenantMove',
      'beginTenantCopy',
      'readTenantCopy',
      'compareTenantCopy',
      'flipTenant',
      'endTenantCopy',
      'removeMovedRows',
    ]) {
      killed.add(name);
    }
    const tenant = await instance.tenant();
    const equipment = await equip(tenant);
    const there = await moveWhileUsed(tenant, equipment, 'eu1');
    expect(there.progress.phase).to.equal('removed');
    await waitUntilRated(tenant, there.sent.events);
    expect(await start(tenant.id, 'home')).to.equal(true);
    expect((await ended(tenant.id)).phase).to.equal('removed');
    const summary = await waitUntilRated(tenant, there.sent.events);
    expect(summary).to.include({ accepted: there.sent.events, rated: there.sent.events });
    expect((await rowsIn(cell.url, tenant.id)).every((count) => count === 0)).to.equal(true);
    expect((await rowsIn(instance.databaseUrl, tenant.id))[0]).to.equal(there.sent.events);
    await tenant
      .post(`${external}/accounts`, { ...demoAccount, externalId: 'b', number: 'B' })
      .expect(201);
    await wait(1_500);
    expect((await verifyAuditChain(tenant.scope.db.read, tenant.id)).fault).to.equal(null);
  });

  it('cannot be moved twice at once, nor to where it is', async () => {
    const tenant = await instance.tenant();
    await equip(tenant);
    expect(await start(tenant.id, 'eu1', 60_000)).to.equal(true);
    expect(await start(tenant.id, 'eu1')).to.equal(false);
    for (let phase = ''; phase !== 'moved'; await wait(100)) {
      ({ phase } = await readTenantMove(client(), tenant.id));
    }
    expect(await start(tenant.id, 'home')).to.equal(false);
    await tenant.get(`${external}/accounts`).expect(200);
    const still = await instance.tenant();
    expect(await start(still.id, 'home')).to.equal(true);
    const failure = await ended(still.id).then(
      () => 'moved',
      (error: Error & { cause?: Error & { cause?: Error } }) => String(error.cause?.cause?.message),
    );
    expect(failure).to.equal(`The tenant '${still.id}' is in the cell 'home' already.`);
  });

  it('stays where it was when its move is canceled, with nothing left in the other cell', async () => {
    const tenant = await instance.tenant();
    await equip(tenant);
    expect(await start(tenant.id, 'eu1')).to.equal(true);
    for (let tables = 0; tables === 0; await wait(20)) {
      ({ tables } = await readTenantMove(client(), tenant.id));
    }
    await cancelTenantMove(client(), tenant.id);
    const outcome = await ended(tenant.id).then(
      ({ phase }) => phase,
      () => 'taken back',
    );
    expect(outcome).to.equal('taken back');
    expect((await rowsIn(cell.url, tenant.id)).every((count) => count === 0)).to.equal(true);
    await tenant
      .post(`${external}/accounts`, { ...demoAccount, externalId: 'b', number: 'B' })
      .expect(201);
    expect((await rowsIn(instance.databaseUrl, tenant.id)).at(-1)).to.equal(2);
    const left = await asOwner(instance.databaseUrl, (owner) =>
      owner.query(`select from pg_publication where pubname like 'durabill_move_%'`),
    );
    expect(left.rowCount).to.equal(0);
    expect(await start(tenant.id, 'eu1')).to.equal(true);
    expect((await ended(tenant.id)).phase).to.equal('removed');
    await tenant.get(`${external}/accounts`).expect(200);
  });
});
