import { defined } from '../../kernel/defined.js';
import type { BillingProblem, BillingRunInput } from '../../messages/billing-run.js';
import { dayAfter } from '../../kernel/time/date.js';
import type { Scope } from '../../kernel/scope.js';
import type { UsageLogReader } from '../../messages/usage-log.js';
import { UsageEvent } from '../../models/usage/usage-event.js';
import { filterUsageEvents } from './finding/usage-event-filter.js';
import { summarizeUsage } from './usage-summary.js';

interface RejectedRow {
  readonly code: string;
  readonly events: string;
}

const ofNoCharge = { contractServiceId: null, chargeType: null };

/** Usage of a period, or of an account in it, that no invoice has. */
export interface OpenUsage {
  /** Rejected events of the period by reason. */
  readonly rejected: readonly { readonly code: string; readonly events: number }[];
  /** Accepted events of the tenant that are not rated yet, whose account and period are unknown. */
  readonly pending: number;
}

export async function countOpenUsage(
  scope: Scope,
  log: UsageLogReader,
  { periodStart, periodEnd, accountId }: BillingRunInput,
): Promise<OpenUsage> {
  const { tenantId, db } = scope;
  const rejected = (await filterUsageEvents(
    UsageEvent.query(db.read).forTenant(tenantId).where({ status: 'rejected' }),
    tenantId,
    {
      from: `${periodStart}T00:00:00Z`,
      to: `${dayAfter(periodEnd)}T00:00:00Z`,
      ...defined({ accountId }),
    },
  )
    .select('code')
    .count('* as events')
    .groupBy('code')
    .orderBy('code')) as unknown as RejectedRow[];
  const { pending } = await summarizeUsage(scope, log);
  return {
    rejected: rejected.map(({ code, events }) => ({ code, events: Number(events) })),
    pending,
  };
}

/**
 * Usage that a billing run for a period leaves out: rejected events of the period by reason, and
 * accepted events that are not rated yet, whose period is still unknown. For one account, only its
 * own rejected events.
 */
export async function findOpenUsage(
  scope: Scope,
  log: UsageLogReader,
  input: BillingRunInput,
): Promise<BillingProblem[]> {
  const { periodStart, accountId = null } = input;
  const place = { ...ofNoCharge, accountId, periodStart };
  const { rejected, pending } = await countOpenUsage(scope, log, input);
  const problems = rejected.map(({ code, events }): BillingProblem => ({
    ...place,
    code,
    events,
    message: `${eventsWords(events)} of the period ${are(events)} rejected: ${code}. See GET /v1/usage-events?status=rejected&code=${code}, mend the cause and retry.`,
  }));
  if (pending > 0) {
    problems.push({
      ...place,
      accountId: null,
      code: 'USAGE_PENDING',
      events: pending,
      message: `${eventsWords(pending)} that arrived ${are(pending)} not rated yet and on no invoice; run the period again when GET /v1/usage-events/summary shows none pending.`,
    });
  }
  return problems;
}

const eventsWords = (count: number): string => `${count} usage ${count === 1 ? 'event' : 'events'}`;
const are = (count: number): string => (count === 1 ? 'is' : 'are');
