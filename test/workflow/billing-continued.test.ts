import { expect } from 'chai';
import type { BillingProgress } from '../../src/messages/billing-run.js';
import { until } from '../start/workbench.js';
import {
  executeRun,
  fiveAccounts,
  invoicesOf,
  itemLines,
  smallSizes,
  type RunOutput,
} from '../support/billing/billing-run.js';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';

const march = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };

/** Batches that hold this account wait until they may go on. */
class Gate {
  #accountId = '';
  #open: () => void = () => undefined;
  #opened = Promise.resolve();

  close(accountId: string): void {
    this.#accountId = accountId;
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  open(): void {
    this.#accountId = '';
    this.#open();
  }

  async pass(args: readonly unknown[]): Promise<void> {
    const [call] = args as readonly { readonly input?: { readonly accountIds?: string[] } }[];
    if (call?.input?.accountIds?.includes(this.#accountId) === true) await this.#opened;
  }
}

interface TestRun {
  readonly tenant: TestTenant;
  readonly accountIds: readonly string[];
}

describe('a billing run that goes on in other histories', () => {
  const gate = new Gate();
  let small: TestInstance;
  let usual: TestInstance;
  before(async () => {
    small = await openTestInstance({
      withWorkers: true,
      billing: smallSizes,
      activityInterceptors: [
        () => ({
          inbound: {
            async execute(input, next): Promise<unknown> {
              await gate.pass(input.args);
              return next(input);
            },
          },
        }),
      ],
    });
    usual = await openTestInstance({ withWorkers: true });
  });
  afterEach(() => gate.open());
  after(async () => {
    await small.close();
    await usual.close();
  });

  const prepare = async (instance: TestInstance): Promise<TestRun> => {
    const tenant = await instance.tenant();
    return { tenant, accountIds: await fiveAccounts(tenant) };
  };

  /** What a run has made, without what differs from run to run: ids and the order of numbers. */
  const outcomeOf = async ({ tenant, accountIds }: TestRun, output: RunOutput) => {
    const invoices = await invoicesOf(tenant, output);
    const place = (id: string): number => accountIds.indexOf(id);
    return {
      output: {
        ...output,
        invoiceIds: output.invoiceIds.length,
        problems: output.problems.map(({ code }) => code),
      },
      numbers: invoices.map(({ invoiceNo }) => invoiceNo),
      invoices: invoices
        .sort((a, b) => place(a.accountId) - place(b.accountId))
        .map((invoice) => [place(invoice.accountId), invoice.amount, ...itemLines(invoice)]),
    };
  };

  const historyCount = async (tenant: TestTenant, executionId: string): Promise<number> => {
    const place = await workflowIdOf(tenant, executionId);
    return (await historiesOf(small.platform.temporal.waiter, place)).length;
  };

  it('makes what a run in one history makes, and is one execution', async () => {
    const [divided, whole] = [await prepare(small), await prepare(usual)];
    const execution = await executeRun(divided.tenant, march);
    expect(await historyCount(divided.tenant, execution.executionId)).to.equal(3);
    const other = await executeRun(whole.tenant, march);
    expect(execution).to.deep.include({ status: 'completed', input: other.input });
    const outcome = await outcomeOf(divided, execution.output as RunOutput);
    expect(outcome).to.deep.equal(await outcomeOf(whole, other.output as RunOutput));
    // The n-th account has n events of 100 x 0.01; the price that is missing was found first.
    expect(outcome.invoices).to.deep.equal(
      [1, 2, 3, 4, 5].map((n) => [n - 1, n, `API calls 2026-03-15..2026-03-15 ${n}`]),
    );
    expect(outcome.output).to.include({ accountCount: 5, invoiceCount: 5, transactionCount: 15 });
    expect(outcome.output.problems).to.have.length(1);
    expect(outcome.numbers).to.deep.equal([1, 2, 3, 4, 5].map((n) => `INV-00000${n}`));
    const { body } = await divided.tenant.get('/v1/workflows/billing-run/executions').expect(200);
    expect(body.data.map((one: { executionId: string }) => one.executionId)).to.deep.equal([
      execution.executionId,
    ]);
  });

  it('shows the drafts of all histories in a dry run', async () => {
    const { tenant, accountIds } = await prepare(small);
    const execution = await executeRun(tenant, { ...march, dryRun: true });
    expect(await historyCount(tenant, execution.executionId)).to.equal(3);
    const { invoices = [], ...output } = execution.output as RunOutput;
    expect(output).to.include({ accountCount: 5, invoiceCount: 5, problemCount: 1 });
    const drafted = invoices.map(({ accountId, amount }) => [
      accountIds.indexOf(accountId),
      amount,
    ]);
    // As above, and in whatever order two batches end that are side by side.
    expect(drafted.sort()).to.deep.equal([1, 2, 3, 4, 5].map((n) => [n - 1, n]));
  });

  /** A run of which the third history waits with the last account. */
  const untilLast = async () => {
    const { tenant, accountIds } = await prepare(small);
    gate.close(accountIds.at(-1) ?? '');
    const { body } = await tenant
      .post('/v1/workflows/billing-run/execute', { data: march, async: true })
      .expect(200);
    const { executionId } = body as { executionId: string };
    const handle = small.platform.temporal.waiter.workflow.getHandle(
      await workflowIdOf(tenant, executionId),
    );
    let progress: BillingProgress | null = null;
    const isLast = async () => {
      progress = await handle.query<BillingProgress | null>('progress').catch(() => null);
      return progress?.accountsDone === 4;
    };
    await until(isLast, 30_000, 'the last account');
    const read = async () => {
      const path = `/v1/workflows/billing-run/executions/${executionId}`;
      return (await tenant.get(path).expect(200)).body;
    };
    const ended = async () => {
      await until(async () => (await read()).status !== 'running', 20_000, 'the end');
      return read();
    };
    return { tenant, executionId, progress, read, ended };
  };

  it('tells its progress over all of them, under the id with which it began', async () => {
    const { tenant, executionId, progress, read, ended } = await untilLast();
    expect(progress).to.deep.equal({ accountCount: 5, accountsDone: 4, invoices: 4, problems: 1 });
    expect(await read()).to.include({ executionId, status: 'running', output: null });
    expect(await historyCount(tenant, executionId)).to.equal(3);
    gate.open();
    const { status, output } = await ended();
    expect([status, output.invoiceCount, output.transactionCount]).to.deep.equal([
      'completed',
      5,
      15,
    ]);
  });

  it('is canceled under that id too', async () => {
    const { tenant, executionId, ended } = await untilLast();
    await tenant.post(`/v1/workflows/billing-run/executions/${executionId}/cancel`).expect(200);
    gate.open();
    expect((await ended()).status).to.equal('canceled');
  });

  it('is known to be terminated under that id', async () => {
    const { tenant, executionId, ended } = await untilLast();
    const place = await workflowIdOf(tenant, executionId);
    await small.platform.temporal.waiter.workflow.getHandle(place).terminate();
    gate.open();
    expect((await ended()).status).to.equal('terminated');
  });
});
