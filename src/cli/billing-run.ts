import { setTimeout as wait } from 'node:timers/promises';
import cliProgress from 'cli-progress';
import type { BillingProgress } from '../kernel/billing-run.js';
import { instanceAddresses, withInstance } from './instance.js';
import { withTemporal } from './temporal-access.js';

export interface BillingRunOptions {
  readonly tenant: string;
  readonly from: string;
  readonly to: string;
  readonly account?: string;
  readonly dryRun?: true;
}

interface Execution {
  readonly executionId: string;
  readonly status: string;
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly message: string } | null;
}

const pollMs = 500;

/** Starts a billing run and shows how far it is until it has ended; it goes on without us. */
export async function runBillingFromTerminal(options: BillingRunOptions): Promise<void> {
  const { apiUrl } = await instanceAddresses();
  const token = await withInstance(({ tokens }) =>
    tokens.issue({
      ...{ tenantId: options.tenant, orgId: null, roles: ['ADMIN'], subject: 'command-line' },
      expiresInSeconds: 86_400,
    }),
  );
  const call = async (path: string, body?: object): Promise<Execution> => {
    const answer = await fetch(`${apiUrl}/v1/workflows/billing-run${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    const content = (await answer.json()) as Execution & { error?: { message: string } };
    if (!answer.ok) throw new Error(content.error?.message ?? `The API answers ${answer.status}.`);
    return content;
  };
  const { from: periodStart, to: periodEnd, account, dryRun = false } = options;
  const data = { periodStart, periodEnd, dryRun, ...(account ? { accountId: account } : {}) };
  const { executionId } = await call('/execute', { data, async: true });
  const place = await workflowIdOf(options.tenant, executionId);
  print(await watch(() => call(`/executions/${executionId}`), place));
}

async function workflowIdOf(tenantId: string, executionId: string): Promise<string> {
  return withInstance(async ({ database }) => {
    const trail = { actor: 'command-line', requestId: executionId };
    const row = await database
      .forTenant(tenantId, trail)
      .read('execution')
      .where({ tenantId, id: executionId })
      .first<{ workflowId: string } | undefined>('workflowId');
    return row?.workflowId ?? '';
  });
}

/** Moves the bar until the execution has ended, and answers with it. */
async function watch(read: () => Promise<Execution>, workflowId: string): Promise<Execution> {
  const bar = new cliProgress.SingleBar({
    format: 'billing {bar} {value} of {total} accounts, {invoices} invoices',
    ...{ hideCursor: true, clearOnComplete: false },
  });
  bar.start(0, 0, { invoices: 0 });
  try {
    return await withTemporal(async ({ client }) => {
      for (;;) {
        const execution = await read();
        const progress = await client.workflow
          .getHandle(workflowId)
          .query<BillingProgress | null>('progress')
          .catch(() => null);
        if (progress) {
          bar.setTotal(progress.accountCount);
          bar.update(progress.accountsDone, { invoices: progress.invoices });
        }
        if (execution.status !== 'running') return execution;
        await wait(pollMs);
      }
    });
  } finally {
    bar.stop();
  }
}

function print({ status, output, error }: Execution): void {
  if (status !== 'completed') throw new Error(error?.message ?? `The run is ${status}.`);
  process.stdout.write(`${JSON.stringify({ ...output, invoiceIds: undefined }, null, 2)}\n`);
}
