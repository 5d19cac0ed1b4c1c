import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { BillingScheduleInput } from '../../messages/billing-run.js';
import type { FlowRun } from '../../messages/flow-run.js';
import {
  differencesMax,
  type AuditPlace,
  type UsageAuditInput,
  type UsageAuditResult,
  type UsageDifference,
} from '../../messages/usage/usage-audit.js';
import { lastStep, step } from '../runtime/flow-step.js';
import { isAway, persist } from '../runtime/repeat-while-away.js';
import { longSteps, shortSteps } from '../runtime/step-timeouts.js';
import { auditPeriod, lastPeriod } from '../runtime/scheduled-period.js';

/** How far an audit is; one that goes on in another history is given it. */
interface AuditState {
  after: AuditPlace | null;
  events: number;
  unchecked: number;
  charges: number;
  differenceCount: number;
  readonly differences: UsageDifference[];
}

/** Charges of one step: some hundred milliseconds of arithmetic. */
const pageSize = 1_000;

function addPage(state: AuditState, count: number, found: readonly UsageDifference[]): void {
  state.differenceCount += count;
  state.differences.push(...found.slice(0, differencesMax - state.differences.length));
}

/** Audits the rated usage of a period: charges in pages, then the counters (docs/decisions/0122). */
export async function auditUsage(
  run: FlowRun<UsageAuditInput>,
  resumed?: AuditState,
): Promise<unknown> {
  const { input } = run;
  const state: AuditState = resumed ?? {
    after: null,
    events: 0,
    unchecked: 0,
    charges: 0,
    differenceCount: 0,
    differences: [],
  };
  if (!resumed) await step(shortSteps.beginUsageAudit, run, input);
  for (;;) {
    const request = { input, after: state.after, limit: pageSize };
    const page = await patiently(() => longSteps.auditUsageCharges({ run, input: request }));
    state.events += page.events;
    state.unchecked += page.unchecked ?? 0;
    state.charges += page.charges;
    addPage(state, page.differences.length, page.differences);
    state.after = page.next;
    if (page.next === null) break;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof auditUsage>(run, state);
  }
  const counters = await patiently(() => longSteps.auditUsageCounters({ run, input }));
  addPage(state, counters.differenceCount, counters.differences);
  const { events, unchecked, charges, differenceCount, differences } = state;
  const result: UsageAuditResult = {
    events,
    unchecked,
    charges,
    counters: counters.counters,
    differenceCount,
    differences,
  };
  return lastStep(shortSteps.endUsageAudit, run, { executionId: run.executionId, input, result });
}

const patiently = <T>(work: () => Promise<T>): Promise<T> => persist(work, { isWorthIt: isAway });

/** Audits the calendar period that ended last: what a tenant's schedule starts. */
export const scheduleUsageAudit = ({ tenantId, every }: BillingScheduleInput): Promise<void> =>
  auditPeriod(tenantId, lastPeriod(every));
