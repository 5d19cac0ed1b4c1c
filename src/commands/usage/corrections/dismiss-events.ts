import type { Knex } from 'knex';
import type { Scope } from '../../../kernel/scope.js';
import { usageEventIdAt } from '../../../messages/usage-log.js';
import type { DismissalPage, DismissalPageResult } from '../../../messages/usage-workflow.js';
import { publishCorrection } from '../../../models/usage/corrections/known-instant.js';
import { UsageEventChange } from '../../../models/usage/corrections/usage-event-change.js';
import { noChange, UsageConsumer } from '../../../models/usage/log-offset.js';
import { countFitting, pageBytesMax } from '../../../models/usage/event-message.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { filterUsageEvents } from '../../../queries/usage/finding/usage-event-filter.js';
import { wantedKinds } from '../../webhooks/webhook-event.js';
import { recordCorrectedEvents } from './correction-webhook-event.js';

type Place = Pick<UsageEvent, 'id' | 'partition'>;

/**
 * Dismisses the newest rejected events of a filter before a place, as many as a page has (spec/beyond.md
 * R490): each becomes what cancelling it would make of it, with what it was kept beside it.
 */
export async function dismissPage(
  scope: Scope,
  { filter, reason, until, beforeId, size }: DismissalPage,
): Promise<DismissalPageResult> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const rejected = UsageEvent.query(trx)
      .forTenant(tenantId)
      .select('usageEvent.id', 'usageEvent.partition')
      .where('status', 'rejected')
      .where('usageEvent.id', '<', beforeId ?? usageEventIdAt(new Date(until)))
      .orderBy('usageEvent.id', 'desc')
      .limit(size);
    const found: Place[] = await filterUsageEvents(rejected, tenantId, filter);
    const taken = found.slice(0, await countTold(trx, tenantId, found));
    const events = await lockRejected(trx, tenantId, taken);
    if (events.length > 0) await dismiss(trx, scope, events, reason);
    const isLast = found.length < size && taken.length === found.length;
    return {
      dismissed: events.length,
      taken: taken.length,
      lastId: isLast ? null : (taken.at(-1)?.id ?? null),
    };
  });
}

/** How many of the first may be told of at once, where they are: their messages are read for it (0482). */
async function countTold(
  trx: Knex.Transaction,
  tenantId: string,
  found: readonly Place[],
): Promise<number> {
  const { all: wanted } = await wantedKinds(trx, tenantId);
  if (!wanted.has('usage.canceled')) return found.length;
  const ids = found.map(({ id }) => id);
  return countFitting(trx, tenantId, ids, pageBytesMax);
}

/** Partitions before events, the order of whoever rates. What was rated meanwhile is none of them. */
async function lockRejected(
  trx: Knex.Transaction,
  tenantId: string,
  found: readonly Place[],
): Promise<Place[]> {
  await UsageConsumer.lockAll(
    trx,
    tenantId,
    found.map(({ partition }) => partition),
  );
  return UsageEvent.query(trx)
    .forTenant(tenantId)
    .select('id', 'partition')
    .whereIn(
      'id',
      found.map(({ id }) => id),
    )
    .where('status', 'rejected')
    .orderBy('id')
    .forUpdate();
}

async function dismiss(
  trx: Knex.Transaction,
  scope: Scope,
  events: readonly Place[],
  reason: string,
): Promise<void> {
  const { tenantId } = scope;
  const ids = events.map(({ id }) => id);
  const counts = new Map<number, number>();
  for (const { partition } of events) counts.set(partition, (counts.get(partition) ?? 0) + 1);
  for (const [partition, count] of [...counts].sort(([a], [b]) => a - b)) {
    const change = { ...noChange(), rejected: -count, canceled: count };
    await UsageConsumer.advance(trx, tenantId, partition, change);
  }
  const changedAt = await publishCorrection(trx, tenantId);
  await UsageEventChange.keep(trx, tenantId, ids, {
    reason,
    changedAt,
    change: 'cancel',
    correctionId: null,
    message: null,
  });
  await UsageEvent.cancel(trx, tenantId, ids, reason);
  await recordCorrectedEvents(trx, scope, {
    correctionId: null,
    reason,
    canceled: ids,
    corrected: [],
  });
}
