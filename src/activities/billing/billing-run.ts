import { billAccounts, type BilledAccounts } from '../../commands/billing/bill-accounts.js';
import { TooManyCharges } from '../../commands/billing/charge-limit.js';
import { tookTooLong } from '../../kernel/sql-state.js';
import { presentBilledInvoice } from '../../commands/billing/billed-invoice.js';
import {
  billingSizes,
  draftsThatFit,
  draftsWorthShowing,
  type BillingBatch,
  type BillingBatchResult,
  type BillingProblem,
  type BillingRunInput,
  type BillingRunStart,
} from '../../messages/billing-run.js';
import { utcDate } from '../../kernel/time/date.js';
import { jsonSafe } from '../../kernel/text/json.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import {
  beginBillingRun,
  listBillingAccounts,
  summarizeBillingRun,
  type BillingAccountsPage,
  type BillingRunEnd,
} from '../../queries/billing/billing-run.js';
import { findOpenUsage } from '../../queries/usage/open-usage.js';
import { activityFailure } from '../failure.js';
import { flowStep, preparedStep, type StepCall } from '../flows/flow-step.js';
import { alive } from '../heartbeat.js';
import { workflowScope } from '../scope.js';

function billBatch(scope: Scope, executionId: string, batch: BillingBatch) {
  const { input, invoiceDate, accountIds } = batch;
  return billAccounts(scope, {
    executionId,
    invoiceDate,
    accountIds,
    period: { first: input.periodStart, last: input.periodEnd },
    isNamed: input.accountId !== undefined,
    isDryRun: input.dryRun === true,
  });
}

function listAccounts(
  platform: Platform,
  { run: { tenantId, input }, input: page }: StepCall<BillingAccountsPage>,
): Promise<readonly string[]> {
  const scope = workflowScope(platform, tenantId, 'billing-run');
  return listBillingAccounts(scope, input as BillingRunInput, page);
}

export function billingRunActivities(platform: Platform) {
  /** An account that an error of ours stops must not stop the others. */
  const billEach = async (
    scope: Scope,
    executionId: string,
    batch: BillingBatch,
  ): Promise<BilledAccounts> => {
    try {
      return await billBatch(scope, executionId, batch);
    } catch (error) {
      const isTooMany = error instanceof TooManyCharges;
      if (activityFailure(error) !== error && !tookTooLong(error)) throw error;
      if (!isTooMany) {
        platform.log.error(
          { err: error, tenantId: scope.tenantId, executionId, accounts: batch.accountIds.length },
          'billing',
        );
      }
      const { accountIds } = batch;
      const [only] = accountIds;
      if (only !== undefined && accountIds.length === 1) {
        return { invoices: [], problems: [isTooMany ? tooManyOf(only, error) : faultOf(only)] };
      }
      // Halved until it is found: the others are billed together.
      const middle = Math.ceil(accountIds.length / 2);
      const results: BilledAccounts[] = [];
      for (const half of [accountIds.slice(0, middle), accountIds.slice(middle)]) {
        results.push(await billEach(scope, executionId, { ...batch, accountIds: half }));
      }
      return {
        invoices: results.flatMap(({ invoices }) => invoices),
        problems: results.flatMap(({ problems }) => problems),
      };
    }
  };

  return {
    /** Looks at what there is to do. */
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

    /** Bills some accounts; what was billed before is not billed again. */
    billAccountBatch: ({
      run,
      input: batch,
    }: StepCall<BillingBatch>): Promise<BillingBatchResult> =>
      alive(run.tenantId, async () => {
        const scope = workflowScope(platform, run.tenantId, run.actor);
        const { invoices, problems } = await measured(platform, batch, () =>
          billEach(scope, run.executionId, batch),
        );
        const isDryRun = batch.input.dryRun === true;
        const drafts = isDryRun ? draftsWorthShowing(invoices).map(presentBilledInvoice) : [];
        const shown = draftsThatFit([], jsonSafe(drafts) as object[]);
        return { invoices: invoices.length, problems, drafts: shown };
      }),

    /** Ends a run: its output says what it made. */
    endBillingRun: preparedStep(
      platform,
      async (scope, end: BillingRunEnd) => ({
        end,
        open: await findOpenUsage(scope, platform.broker, end.input),
      }),
      ({ db, tenantId }, { end, open }) => summarizeBillingRun(db.read, tenantId, end, open),
    ),
  };
}

/** Counts what came of a batch, and how long it took. */
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

const faultOf = (accountId: string): BillingProblem => ({
  accountId,
  contractServiceId: null,
  chargeType: null,
  periodStart: null,
  code: 'INTERNAL_ERROR',
  message: 'Billing this account failed because of an error on our side; it can be run again.',
});

const tooManyOf = (accountId: string, { message }: TooManyCharges): BillingProblem => ({
  accountId,
  contractServiceId: null,
  chargeType: null,
  periodStart: null,
  code: 'TOO_MANY_CHARGES',
  message,
});
