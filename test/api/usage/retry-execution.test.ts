import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { retryUsagePage } from '../../../src/commands/usage/retry-usage.js';
import { newId } from '../../../src/kernel/id.js';
import {
  createAccount,
  createService,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import type { TestTenant } from '../../support/servers/instance.js';
import { workflowIdOf } from '../../support/servers/histories.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance } from '../../support/servers/use-instance.js';

const executions = '/v1/workflows/retry-usage/executions';
/** Two pages, and one event of a third. */
const count = 1_001;

// spec/beyond.md R520
describe('the execution of a retry of many events', function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true, isShared: true });
  let tenant: TestTenant;
  beforeEach(async () => {
    tenant = await instance.tenant();
    const serviceId = await createService(tenant, 'Calls');
    const messages = Array.from({ length: count }, () => ({ message: usage('later', serviceId) }));
    await tenant.post('/v1/ingest/usage/batch', messages.slice(0, 500)).expect(200);
    await tenant.post('/v1/ingest/usage/batch', messages.slice(500)).expect(200);
    await waitUntilRated(tenant, count);
    await createAccount(tenant, 'later');
  });

  const read = async (id: string) => (await tenant.get(`${executions}/${id}`).expect(200)).body;
  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (const end = Date.now() + 20_000; Date.now() < end; await pause(20)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error('It did not happen in time.');
  };
  const ended = (id: string) =>
    until(async () => {
      const found = await read(id);
      return found.status === 'running' ? undefined : found;
    });
  const sums = (each: number) => ({ retried: each, rated: each, rejected: 0 });

  /** Does something while the event at this place is held: a page that has it waits meanwhile. */
  const whileHeld = <T>(order: string, work: () => Promise<T>, place = 500): Promise<T> =>
    asOwner(instance.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query(
        `select from usage_event where tenant_id = $1 and id = (
           select id from usage_event where tenant_id = $1 order by ${order} offset ${place} limit 1
         ) for update`,
        [tenant.id],
      );
      return work();
    });
  /** An execution that runs and has counted something. */
  const counting = (path: string) =>
    until(async () => {
      const { body } = await tenant.get(`${path}?status=running`).expect(200);
      return (body.data as { executionId: string; output: object | null }[]).find(
        ({ output }) => output !== null,
      );
    });

  /** Does something while the second page of a retry waits; how the execution ended, and the answer. */
  const whileItRuns = async (work: (executionId: string) => Promise<unknown>) => {
    const { asked, executionId } = await whileHeld('id', async () => {
      const answer = tenant.post('/v1/usage-events/retry', {}).then((each) => each);
      const running = await counting(executions);
      expect(running.output).to.deep.equal(sums(500));
      await work(running.executionId);
      return { asked: answer, executionId: running.executionId };
    });
    return { end: await ended(executionId), answer: await asked, executionId };
  };

  it('runs until the last page is done, and counts meanwhile', async () => {
    const [before, executionId] = ['2200-01-01T00:00:00Z', newId()];
    const onFault = (error: unknown) => expect.fail(String(error));
    const retry = (afterId: string | null) => {
      const page = { tenantId: tenant.id, actor: 'test', filter: {}, until: before, afterId };
      return retryUsagePage(tenant.scope, { page, workflowId: 'w', runId: executionId, onFault });
    };
    const running = { status: 'running', completedAt: null };
    const { lastId } = await retry(null);
    expect(await read(executionId)).to.deep.include({ ...running, output: sums(500) });
    const { lastId: next } = await retry(lastId);
    expect(await read(executionId)).to.deep.include({ ...running, output: sums(1_000) });
    expect((await retry(next)).lastId).to.equal(null);
    const done = await read(executionId);
    expect(done).to.deep.include({ status: 'completed', output: sums(count) });
    expect(done.completedAt).to.be.a('string');
  });

  it('ends where somebody cancels it, which whoever waits is told', async () => {
    const { workflow } = instance.platform.temporal.waiter;
    /** Whether the workflow has heard of it: the page that is under way is done all the same. */
    const isHeard = async (id: string): Promise<true | undefined> => {
      const { events } = await workflow
        .getHandle(await workflowIdOf(tenant, id), id)
        .fetchHistory();
      const names = (events ?? []).map((event) =>
        event.workflowExecutionCancelRequestedEventAttributes
          ? 'asked'
          : event.workflowTaskStartedEventAttributes
            ? 'heard'
            : '',
      );
      return names.lastIndexOf('heard') > names.indexOf('asked') && names.includes('asked')
        ? true
        : undefined;
    };
    const { end, answer, executionId } = await whileItRuns(async (id) => {
      await tenant.post(`${executions}/${id}/cancel`, {}).expect(200);
      await until(() => isHeard(id));
    });
    expect(end.status).to.equal('canceled');
    // What its pages have done stays; the one that was under way is counted once it is done.
    expect(end.output.retried).to.be.oneOf([500, 1_000]);
    expect(answer.status).to.equal(409);
    expect(answer.body.error).to.deep.include({ code: 'CONFLICT', details: { executionId } });
  });

  it('ends where Temporal has ended it', async () => {
    const { end, answer } = await whileItRuns(async (id) => {
      const { workflow } = instance.platform.temporal.waiter;
      await workflow.getHandle(await workflowIdOf(tenant, id), id).terminate();
      await ended(id);
    });
    expect(end.status).to.equal('terminated');
    expect(answer.status).to.equal(409);
  });

  type Handle = ReturnType<typeof instance.platform.temporal.waiter.workflow.getHandle>;
  /** Ends a retry of all events while its first page waits; what is known of it then, and after the page. */
  const endFirstPage = async (end: (handle: Handle) => Promise<unknown>) => {
    const { workflow } = instance.platform.temporal.waiter;
    const filter = createHash('sha256').update('{}').digest('hex').slice(0, 16);
    const handle = workflow.getHandle(`${tenant.id}/usage-retry/${filter}`);
    const found = await whileHeld(
      'id',
      async () => {
        const asked = tenant.post('/v1/usage-events/retry', {}).then((each) => each);
        const { runId } = await until(() => handle.describe().catch(() => undefined));
        // The page has begun.
        await until(() =>
          asOwner(instance.databaseUrl, async (client) => {
            const { rows } = await client.query(
              `select from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock'`,
            );
            return rows[0] as object | undefined;
          }),
        );
        await end(handle);
        const { body } = await asked;
        expect(body.error).to.deep.include({ code: 'CONFLICT', details: { executionId: runId } });
        return until(async () => {
          const { status, body: known } = await tenant.get(`${executions}/${runId}`);
          return status === 200 ? known : undefined;
        });
      },
      0,
    );
    return {
      found,
      counted: () => until(async () => (await read(found.executionId)).output ?? undefined),
    };
  };

  it('has one, too, where it is canceled before its first page is done', async () => {
    const { found, counted } = await endFirstPage((handle) => handle.cancel());
    expect(found).to.deep.include({ status: 'canceled', input: { filter: {} }, output: null });
    expect(found.completedAt).to.be.a('string');
    // The page that was under way is done all the same.
    expect(await counted()).to.deep.equal(sums(500));
    expect(await read(found.executionId)).to.include({ status: 'canceled' });
  });

  it('has one, too, where Temporal ends it before its first page is done', async () => {
    const { found, counted } = await endFirstPage((handle) => handle.terminate());
    expect(found).to.deep.include({ status: 'terminated', input: null, output: null });
    expect(await counted()).to.deep.equal(sums(500));
    const { status, input } = await read(found.executionId);
    expect({ status, input }).to.deep.equal({ status: 'terminated', input: { filter: {} } });
  });

  it('of a dismissal counts while it runs, too', async () => {
    const asked = await whileHeld('id desc', async () => {
      const reason = 'Sent by a test.';
      const answer = tenant.post('/v1/usage-events/dismiss', { reason }).then((each) => each);
      const { output } = await counting('/v1/workflows/dismiss-usage-events/executions');
      expect(output).to.deep.equal({ dismissed: 500 });
      return { answer };
    });
    expect((await asked.answer).body).to.include({ dismissed: count, isComplete: true });
  });
});
