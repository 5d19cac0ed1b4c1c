import {
  continueAsNew,
  defineQuery,
  patched,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  draftsThatFit,
  outputListMax,
  type BillingBatchResult,
  type BillingProblem,
  type BillingProgress,
  type BillingRunInput,
  type BillingRunStart,
  type BillingSizes,
} from '../kernel/billing-run.js';
import type { FlowRun } from '../kernel/flow-run.js';
import { lastStep, step } from './flow.js';
import { isAway, persist } from './persistence.js';
import { longSteps, shortSteps } from './proxies.js';

/** How far a run is; a run that goes on in another history is given it. */
interface BillingState {
  readonly start: BillingRunStart;
  /** The last account of which all before are billed. */
  afterId: string | null;
  accountsDone: number;
  invoices: number;
  problemCount: number;
  readonly problems: BillingProblem[];
  readonly drafts: object[];
}

/** Of runs that began before sizes were kept with their start: their histories have such batches. */
const sizesOf2000: BillingSizes = { page: 8_000, batch: 2_000, concurrency: 2, pages: 100 };
const sizesOf100: BillingSizes = { page: 2_000, batch: 100, concurrency: 4, pages: 100 };

/** PDFs of one step. */
const rendersMax = 50;

export const progressQuery = defineQuery<BillingProgress | null>('progress');

function add(state: BillingState, result: BillingBatchResult, accounts: number): void {
  state.accountsDone += accounts;
  state.invoices += result.invoices;
  state.problemCount += result.problems.length;
  state.problems.push(...result.problems.slice(0, outputListMax - state.problems.length));
  state.drafts.push(...draftsThatFit(state.drafts, result.drafts));
}

/** Bills all due accounts for a period, or one (DESIGN.md, section 5). */
export async function runBilling(
  run: FlowRun<BillingRunInput>,
  resumed?: BillingState,
): Promise<unknown> {
  let state = resumed;
  const formerSizes = patched('batches-of-2000') ? sizesOf2000 : sizesOf100;
  setHandler(progressQuery, () =>
    state === undefined
      ? null
      : {
          accountCount: state.start.accountCount,
          accountsDone: state.accountsDone,
          invoices: state.invoices,
          problems: state.problemCount,
        },
  );
  state ??= {
    start: await step(shortSteps.beginBillingRun, run, run.input),
    ...{ afterId: null, accountsDone: 0, invoices: 0, problemCount: 0, problems: [], drafts: [] },
  };
  const sizes = state.start.sizes ?? formerSizes;
  for (let pages = 1; ; pages += 1) {
    const ids = await nextAccounts(run, state.afterId, sizes.page);
    await billPage(run, state, ids, sizes);
    state.afterId = ids.at(-1) ?? state.afterId;
    if (ids.length < sizes.page) break;
    if (pages >= sizes.pages || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof runBilling>(run, state);
    }
  }
  const { start, problems, problemCount, drafts, accountsDone, invoices } = state;
  // Of a small run the files are there when it ends; of a large one they follow.
  const isRendered = state.invoices <= rendersMax && (await renderPage(run));
  const output = await lastStep(shortSteps.endBillingRun, run, {
    ...{ executionId: run.executionId, input: run.input, invoiceDate: start.invoiceDate },
    ...{ accountsDone, invoices },
    ...{ problems, problemCount, drafts },
  });
  if (!isRendered) while (!(await renderPage(run)));
  return output;
}

/** Renders some PDFs; whether there are no more to render. */
const renderPage = (run: FlowRun<BillingRunInput>): Promise<boolean> =>
  persist(() => longSteps.renderInvoices({ run, input: { limit: rendersMax } }), {
    isWorthIt: isAway,
  });

function nextAccounts(
  run: FlowRun<BillingRunInput>,
  afterId: string | null,
  limit: number,
): Promise<readonly string[]> {
  const { tenantId, input } = run;
  const page = { run, tenantId, input, afterId, limit };
  return persist(() => longSteps.listBillingAccounts(page), { isWorthIt: isAway });
}

/** Bills a page in batches, so many side by side. */
async function billPage(
  run: FlowRun<BillingRunInput>,
  state: BillingState,
  ids: readonly string[],
  { batch: size, concurrency }: BillingSizes,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < ids.length) {
      const accountIds = ids.slice(next, next + size);
      next += size;
      const batch = { input: run.input, invoiceDate: state.start.invoiceDate, accountIds };
      const result = await persist(() => longSteps.billAccountBatch({ run, input: batch }), {
        isWorthIt: isAway,
      });
      add(state, result, accountIds.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
