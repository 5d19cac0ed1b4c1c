import type { Static } from 'typebox';
import { ZERO, type Decimal } from '../../../kernel/numbers/money.js';
import { mapInPortions, Portions } from '../../../kernel/portions.js';
import type { Scope } from '../../../kernel/scope.js';
import { countFitting, pageBytesMax } from '../../../models/usage/event-message.js';
import { UsageCounter } from '../../../models/usage/usage-counter.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { ratePrepared } from '../../../rating/index.js';
import type { RetryResult } from '../../../schemas/usage/usage-event.js';
import { messageOf } from '../gone-message.js';
import { UsageRater, type UsageRejectionCode } from '../usage-rater.js';
import { filterUsageEvents, type UsageEventFilter } from './usage-event-filter.js';

type Result = Static<typeof RetryResult>;

/** So many events are rated for a preview, as one page of a retry has. */
const eventsMax = 500;

/** The first events of a retry with their messages, and whether these are all of it. */
async function readFirst({ db, tenantId }: Scope, filter: UsageEventFilter) {
  const rejected = UsageEvent.query(db.read)
    .forTenant(tenantId)
    .select('usageEvent.id')
    .where('status', 'rejected')
    .whereNull('originalId')
    .orderBy('usageEvent.id')
    .limit(eventsMax + 1);
  const found = await filterUsageEvents(rejected, tenantId, filter);
  const ids = found.slice(0, eventsMax).map(({ id }) => id);
  const fitting = ids.slice(0, await countFitting(db.read, tenantId, ids, pageBytesMax));
  const events = await UsageEvent.withText(UsageEvent.query(db.read).forTenant(tenantId))
    .whereIn('usageEvent.id', fitting)
    .orderBy('usageEvent.id');
  return { events, isAll: fitting.length === found.length };
}

/**
 * What a retry of rejected events would come to: of the first of them, rated one after the other with
 * counters that are read and not locked (spec/beyond.md R493). Nothing is written.
 */
export async function previewRetry(
  scope: Scope,
  filter: UsageEventFilter,
  onFault: (error: unknown) => void,
): Promise<Result> {
  const { db, tenantId } = scope;
  const { events, isAll } = await readFirst(scope, filter);
  const messages = await mapInPortions(events, messageOf);
  const reads = messages.flatMap(({ read }) => (read.ok ? [read.event] : []));
  const rater = await UsageRater.open(db.read, tenantId, reads, ratePrepared, {
    readCounters: (keys) => UsageCounter.read(db.read, tenantId, keys),
    onFault,
  });
  const sums = new Map<string, Decimal>();
  const reasons = new Map<UsageRejectionCode, number>();
  const portions = new Portions();
  let [retried, rated] = [0, 0];
  for (const { read } of messages) {
    if (!rater.takes(read)) break;
    const outcome = rater.rate(read);
    retried += 1;
    if (outcome.status === 'rated') {
      rated += 1;
      for (const { currency, amount } of outcome.rated.transactions) {
        sums.set(currency, amount.plus(sums.get(currency) ?? ZERO));
      }
    } else {
      reasons.set(outcome.code, (reasons.get(outcome.code) ?? 0) + 1);
    }
    if (portions.isOver) await portions.rest();
  }
  return {
    retried,
    rated,
    rejected: retried - rated,
    isComplete: isAll && retried === messages.length,
    sums: [...sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, amount]) => ({ currency, amount })),
    reasons: [...reasons]
      .map(([code, events]) => ({ code, events }))
      .sort((a, b) => b.events - a.events || (a.code < b.code ? -1 : 1)),
    dryRun: true,
  };
}
