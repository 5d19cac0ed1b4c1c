import { setTimeout as wait } from 'node:timers/promises';
import cliProgress from 'cli-progress';
import {
  outputListMax,
  progressQueryName,
  type BillingProgress,
} from '../../messages/billing-run.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { instanceAddresses, withInstance } from '../start/instance.js';
import { issueForCommand } from '../access/named-tenant.js';
import { withTemporal } from '../start/temporal-access.js';

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
  const given = { orgId: null, roles: ['ADMIN'], expiresInSeconds: 86_400 };
  const token = await withInstance((access) => issueForCommand(access, options.tenant, given));
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
  const ended = await watch(() => call(`/executions/${executionId}`), place);
  if (ended.status !== 'completed') {
    throw new Error(ended.error?.message ?? `The run is ${ended.status}.`);
  }
  print(ended.output ?? {}, await namesOf(options.tenant, ended));
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
    hideCursor: true,
    clearOnComplete: false,
  });
  bar.start(0, 0, { invoices: 0 });
  try {
    return await withTemporal(async ({ client }) => {
      for (;;) {
        const execution = await read();
        const progress = await client.workflow
          .getHandle(workflowId)
          .query<BillingProgress | null>(progressQueryName)
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

interface NamedInvoice {
  readonly accountId: string;
  readonly account: string;
  readonly externalId: string | null;
  readonly invoiceNo?: string;
  readonly total?: number;
  readonly currency?: string;
}

interface Draft {
  readonly accountId: string;
}

/** What a person knows the invoices of a run by; of a dry run, the accounts of its drafts. */
async function namesOf(
  tenantId: string,
  { executionId, output }: Execution,
): Promise<NamedInvoice[]> {
  const drafts = (output?.['invoices'] ?? []) as readonly Draft[];
  return withInstance(async ({ database }) => {
    const trail = { actor: 'command-line', requestId: executionId };
    const { read } = database.forTenant(tenantId, trail, 'batch');
    const names = { account: 'account.name', externalId: 'account.externalId' };
    if (drafts.length > 0) {
      const ids = [...new Set(drafts.map(({ accountId }) => accountId))];
      const accounts: NamedInvoice[] = await read('account')
        .where({ tenantId })
        .whereIn('id', ids)
        .select({ accountId: 'account.id', ...names });
      return accounts;
    }
    const rows: (NamedInvoice & { readonly amount: string; readonly taxAmount: string })[] =
      await read('invoice')
        .join('account', {
          'account.tenantId': 'invoice.tenantId',
          'account.id': 'invoice.accountId',
        })
        .where({ 'invoice.tenantId': tenantId, 'invoice.executionId': executionId })
        .orderBy('invoice.invoiceNo')
        .limit(outputListMax)
        .select({
          accountId: 'account.id',
          ...names,
          invoiceNo: 'invoice.invoiceNo',
          amount: 'invoice.amount',
          taxAmount: 'invoice.taxAmount',
          currency: 'invoice.currency',
        });
    return rows.map(({ amount, taxAmount, ...row }) => {
      return { ...row, total: new Decimal(amount).plus(taxAmount).toNumber() };
    });
  });
}

/** The output of the run, its invoices with their numbers and the names of their accounts. */
function print(output: Readonly<Record<string, unknown>>, names: readonly NamedInvoice[]): void {
  const byAccount = new Map(names.map((name) => [name.accountId, name]));
  const drafts = output['invoices'] as readonly Draft[] | undefined;
  const invoices = drafts
    ? drafts.map((draft) => ({ ...byAccount.get(draft.accountId), ...draft }))
    : names;
  const shown = { ...output, invoices, invoiceIds: undefined };
  process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
}
