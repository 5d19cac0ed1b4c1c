import type { BilledAccounts } from '../../commands/billing/bill-accounts.js';
import { billEach } from '../../commands/billing/bill-one-by-one.js';
import { presentBilledInvoices } from '../../commands/billing/billed-invoice.js';
import {
  billingSizes,
  draftsThatFit,
  draftsWorthShowing,
  type BillingBatch,
  type BillingBatchResult,
  type BillingRunInput,
  type BillingRunStart,
} from '../../messages/billing-run.js';
import { utcDate } from '../../kernel/time/date.js';
import { mapInPortions } from '../../kernel/portions.js';
import { stringifyJson } from '../../kernel/text/json.js';
import type { Scope } from '../../kernel/scope.js';
import { Execution } from '../../models/flows/execution.js';
import type { Platform } from '../../process/platform.js';
import {
  beginBillingRun,
  countsOf,
  listBillingAccounts,
  summarizeBillingRun,
  type BillingAccountsPage,
  type BillingRunEnd,
} from '../../queries/billing/runs/billing-run.js';
import { findOpenUsage } from '../../queries/usage/left-out-usage.js';
import { flowStep, preparedStep, type StepCall } from '../flows/flow-step.js';
import { alive } from '../long-steps-at-once.js';
import { workflowScope } from '../scope.js';

async function listAccounts(
  platform: Platform,
  { run: { tenantId, input }, input: page }: StepCall<BillingAccountsPage>,
): Promise<readonly string[]> {
  const scope = await workflowScope(platform, tenantId, 'billing-run');
  return listBillingAccounts(scope, input as BillingRunInput, page);
}

export function billingRunActivities(platform: Platform) {
  const billBatch = (scope: Scope, executionId: string, batch: BillingBatch) => {
    const { input, invoiceDate, accountIds } = batch;
    const request = {
      executionId,
      invoiceDate,
      accountIds,
      period: { first: input.periodStart, last: input.periodEnd },
      isNamed: input.accountId !== undefined,
      isDryRun: input.dryRun === true,
    };
    return billEach(scope, request, (error, accounts) =>
      platform.log.error(
        { err: error, tenantId: scope.tenantId, executionId, accounts },
        'billing',
      ),
    );
  };

  return {
    /** Counts the accounts that the run may bill. */
    beginBillingRun: flowStep(platform, async (scope, input: BillingRunInput) => {
      const start: BillingRunStart = {
        ...(await beginBillingRun(scope, input, utcDate(scope.now()))),
        sizes: { ...billingSizes, ...platform.config.billing },
      };
      platform.metrics.billingAccountsDue.inc(start.accountCount);
      return start;
    }),

    /** The next accounts that may have something to bill, in the order of their ids. */
    listBillingAccounts: (call: StepCall<BillingAccountsPage>): Promise<readonly string[]> =>
      alive(call.run.tenantId, () => listAccounts(platform, call)),

    /** Bills a batch of accounts; charges that are billed already are not billed again. */
    billAccountBatch: ({
      run,
      input: batch,
    }: StepCall<BillingBatch>): Promise<BillingBatchResult> =>
      alive(run.tenantId, async () => {
        const scope = await workflowScope(platform, run.tenantId, run.actor);
        const { invoices, problems } = await measured(platform, batch, () =>
          billBatch(scope, run.executionId, batch),
        );
        const isDryRun = batch.input.dryRun === true;
        const drafts = await presentBilledInvoices(isDryRun ? draftsWorthShowing(invoices) : []);
        const texts = await mapInPortions(drafts, stringifyJson);
        return { invoices: invoices.length, problems, drafts: draftsThatFit([], texts) };
      }),

    /** Ends a run: its output summarizes the invoices, and its numbers are kept beside it. */
    endBillingRun: preparedStep(
      platform,
      async (scope, end: BillingRunEnd) => ({
        end,
        open: await findOpenUsage(scope, platform.broker, end.input),
      }),
      async ({ db, tenantId }, { end, open }, executionId) => {
        const output = await summarizeBillingRun(db.read, tenantId, end, open);
        await db.transaction((trx) =>
          Execution.keepCounts(trx, tenantId, executionId, countsOf(output)),
        );
        return output;
      },
    ),
  };
}

/** Counts the outcomes of a batch, and measures its duration. */
async function measured(
  { metrics }: Platform,
  { accountIds, input }: BillingBatch,
  work: () => Promise<BilledAccounts>,
): Promise<BilledAccounts> {
  const endTimer = metrics.billingBatchSeconds.startTimer();
  const billed = await work();
  endTimer();
  metrics.billingAccountsDone.inc(accountIds.length);
  if (input.dryRun !== true) metrics.billingInvoices.inc(billed.invoices.length);
  for (const { code } of billed.problems) metrics.billingProblems.inc({ code });
  return billed;
}
