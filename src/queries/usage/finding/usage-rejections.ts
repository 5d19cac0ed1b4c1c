import type { Static } from 'typebox';
import type { Scope } from '../../../kernel/scope.js';
import { usageEventIdAt } from '../../../messages/usage-log.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { rejectionsMax, type UsageRejections } from '../../../schemas/usage/usage-event.js';
import { filterUsageEvents, type UsageEventFilter } from './usage-event-filter.js';

type Rejections = Static<typeof UsageRejections>;

/**
 * The newest rejected events of a filter by reason (spec/beyond.md R460): as many at most as are counted
 * in a moment, however many a sender has got wrong; those that were accepted before an instant, where one is
 * given.
 */
export async function countRejections(
  { tenantId, db }: Scope,
  filter: UsageEventFilter,
  { max = rejectionsMax, until }: { readonly max?: number; readonly until?: string } = {},
): Promise<Rejections> {
  const rejected = UsageEvent.query(db.read).forTenant(tenantId).where({ status: 'rejected' });
  if (until !== undefined) {
    void rejected.where('usageEvent.id', '<', usageEventIdAt(new Date(until)));
  }
  const newest = filterUsageEvents(rejected, tenantId, filter)
    .select('usageEvent.tenantId', 'usageEvent.code')
    .orderBy('usageEvent.id', 'desc')
    .limit(max);
  const rows = (await UsageEvent.query(db.read)
    .forTenant(tenantId)
    .from(newest.as('usageEvent'))
    .select('code')
    .count('* as events')
    .groupBy('code')
    .orderBy([{ column: 'events', order: 'desc' }, 'code'])) as unknown as {
    readonly code: Rejections['reasons'][number]['code'];
    readonly events: string;
  }[];
  const reasons = rows.map(({ code, events }) => ({ code, events: Number(events) }));
  const counted = reasons.reduce((sum, { events }) => sum + events, 0);
  return { counted, isComplete: counted < max, reasons };
}
