import { continueAsNew, defineQuery, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  draftsThatFit,
  outputListMax,
  type BillingBatchResult,
  type BillingProblem,
  progressQueryName,
  type BillingProgress,
  type BillingRunInput,
  type BillingRunStart,
  type BillingSizes,
  type Draft,
} from '../../messages/billing-run.js';
import type { FlowRun } from '../../messages/flow-run.js';
import { knowEndRecorded, lastStep, step } from '../runtime/flow-step.js';
import { isAway, persist } from '../runtime/repeat-while-away.js';
import { longSteps, shortSteps } from '../runtime/step-timeouts.js';

/** How far a run is; a run that goes on in another history is given it. */
interface BillingState {
  readonly start: BillingRunStart;
  /** The last account of which all before are billed. */
  afterId: string | null;
  accountsDone: number;
  invoices: number;
  problemCount: number;
  readonly problems: BillingProblem[];
  readonly drafts: Draft[];
  /** Since the end of the run is recorded: which PDFs follow, and what the run puts out. */
  rendering?: { readonly afterId: string | null; readonly output: unknown };
}

export const progressQuery = defineQuery<BillingProgress | null>(progressQueryName);

function addBatch(state: BillingState, result: BillingBatchResult, accounts: number): void {
  state.accountsDone += accounts;
  state.invoices += result.invoices;
  state.problemCount += result.problems.length;
  state.problems.push(...result.problems.slice(0, outputListMax - state.problems.length));
  state.drafts.push(...draftsThatFit(state.drafts, result.drafts));
}

/** Bills all due accounts for a period, or one (spec/flows.md R34 to R36). */
export async function runBilling(
  run: FlowRun<BillingRunInput>,
  resumed?: BillingState,
): Promise<unknown> {
  let state = resumed;
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
    afterId: null,
    accountsDone: 0,
    invoices: 0,
    problemCount: 0,
    problems: [],
    drafts: [],
  };
  const sizes = state.start.sizes;
  if (state.rendering) {
    knowEndRecorded();
    return renderRest(run, state, sizes);
  }
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
  const isRendered =
    state.invoices <= sizes.renders && (await renderAfter(run, null, sizes.renders)) === null;
  const output = await lastStep(shortSteps.endBillingRun, run, {
    executionId: run.executionId,
    input: run.input,
    invoiceDate: start.invoiceDate,
    accountsDone,
    invoices,
    problems,
    problemCount,
    drafts,
  });
  if (isRendered) return output;
  state.rendering = { afterId: null, output };
  return renderRest(run, state, sizes);
}

/** Renders the PDFs of the next invoices in the order of their ids; the last one, if more may follow. */
const renderAfter = (
  run: FlowRun<BillingRunInput>,
  afterId: string | null,
  limit: number,
): Promise<string | null> =>
  persist(() => longSteps.renderInvoicesAfter({ run, input: { afterId, limit } }), {
    isWorthIt: isAway,
  });

/** Renders all PDFs of a run whose end is recorded, over as many histories as that needs. */
async function renderRest(
  run: FlowRun<BillingRunInput>,
  state: BillingState,
  { pages: pagesMax, renders }: BillingSizes,
): Promise<unknown> {
  const { output = null, afterId: from = null } = state.rendering ?? {};
  let afterId = from;
  for (let pages = 1; ; pages += 1) {
    afterId = await renderAfter(run, afterId, renders);
    if (afterId === null) return output;
    if (pages < pagesMax && !workflowInfo().continueAsNewSuggested) continue;
    // What was shown of the run is in its output.
    const rest = { ...state, problems: [], drafts: [], rendering: { afterId, output } };
    await continueAsNew<typeof runBilling>(run, rest);
  }
}

function nextAccounts(
  run: FlowRun<BillingRunInput>,
  afterId: string | null,
  limit: number,
): Promise<readonly string[]> {
  const page = { run, input: { afterId, limit } };
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
      addBatch(state, result, accountIds.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
