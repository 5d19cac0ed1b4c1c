import type { Knex } from 'knex';
import { mapInPortions, Portions } from '../../kernel/portions.js';
import type { Scope } from '../../kernel/scope.js';
import { usageEventIdAt } from '../../messages/usage-log.js';
import type { RetryPage, RetryPageResult } from '../../messages/usage-workflow.js';
import { Execution } from '../../models/flows/execution.js';
import { beginRating } from '../../models/usage/corrections/known-instant.js';
import { countFitting, pageBytesMax } from '../../models/usage/event-message.js';
import { UsageConsumer } from '../../models/usage/log-offset.js';
import { UsageCounter } from '../../models/usage/usage-counter.js';
import { UsageEvent } from '../../models/usage/usage-event.js';
import { filterUsageEvents } from '../../queries/usage/finding/usage-event-filter.js';
import { messageOf } from '../../queries/usage/gone-message.js';
import { UsageRater } from '../../queries/usage/usage-rater.js';
import { ratePrepared } from '../../rating/index.js';
import { isRace } from '../../kernel/sql-state.js';
import { nameAccounts } from './named-accounts.js';
import { UsageBatch } from './usage-batch.js';

interface RetryUsageInput {
  readonly page: RetryPage;
  readonly workflowId: string;
  readonly runId: string;
  readonly onFault: (error: unknown) => void;
}

const pageSize = 500;
const racesMax = 5;

/**
 * Rates rejected events again (spec/rating.md R62), each at its original offset. Events that this
 * run has rejected once more are not selected again, so that a repeated call is idempotent. Events
 * that conflict with another event are skipped: no correction makes them valid.
 */
export async function retryUsagePage(
  scope: Scope,
  input: RetryUsageInput,
): Promise<RetryPageResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await scope.db.transaction((trx) => retryInTransaction(trx, scope, input));
    } catch (error) {
      if (!isRace(error) || attempt === racesMax) throw error;
    }
  }
}

async function retryInTransaction(
  trx: Knex.Transaction,
  scope: Scope,
  { page, workflowId, runId, onFault }: RetryUsageInput,
): Promise<RetryPageResult> {
  const { tenantId } = scope;
  const begunAt = scope.realNow();
  const knownAt = await beginRating(trx, tenantId);
  const at = scope.now();
  const found = await choose(trx, tenantId, page, runId);
  const ids = found.map(({ id }) => id);
  const chosen = found.slice(0, await countFitting(trx, tenantId, ids, pageBytesMax));
  // Locks partitions before events, the order of the consumer, to avoid deadlocks.
  const partitions = [...new Set(chosen.map(({ partition }) => partition))];
  await UsageConsumer.lockAll(trx, tenantId, partitions);
  const events = await lockRejected(
    trx,
    tenantId,
    chosen.map(({ id }) => id),
  );
  const candidates = await mapInPortions(events, (event) => ({
    event,
    message: messageOf(event),
  }));
  const reads = candidates.flatMap(({ message: { read } }) => (read.ok ? [read.event] : []));
  const rater = await UsageRater.open(trx, tenantId, reads, ratePrepared, {
    readCounters: (keys) => UsageCounter.lock(trx, tenantId, keys),
    onFault,
  });
  const named = await nameAccounts(trx, tenantId, rater, candidates);
  const batch = new UsageBatch({ workflowId, runId, at }, knownAt);
  const portions = new Portions();
  const isWhole = chosen.length === found.length && found.length < pageSize;
  let last = isWhole ? undefined : chosen.at(-1)?.id;
  for (const [index, { event, message }] of candidates.entries()) {
    if (batch.isFull || !rater.takes(message.read)) {
      last = candidates[index - 1]?.event.id;
      break;
    }
    batch.retry(event, message, named.rate(message));
    await batch.charge(portions);
  }
  const advancing = [...batch.tallies()]
    .sort(([a], [b]) => a - b)
    .map(([partition, change]) => UsageConsumer.advancing(tenantId, partition, change));
  await batch.write(trx, scope, rater.movedCounters(), advancing);
  const { rated, rejected } = batch.retryCounts();
  const counts = await Execution.addCounts(trx, tenantId, {
    workflow: 'retryUsage',
    workflowId,
    runId,
    actor: scope.actor,
    input: { filter: page.filter },
    output: { retried: rated + rejected, rated, rejected },
    startedAt: begunAt,
    completedAt: last === undefined ? scope.realNow() : null,
  });
  await batch.settle(trx, scope);
  return {
    counts: {
      retried: counts['retried'] ?? 0,
      rated: counts['rated'] ?? 0,
      rejected: counts['rejected'] ?? 0,
    },
    lastId: last ?? null,
  };
}

function choose(
  trx: Knex.Transaction,
  tenantId: string,
  { filter, afterId, until }: RetryPage,
  runId: string,
): Promise<{ id: string; partition: number }[]> {
  const query = UsageEvent.query(trx)
    .forTenant(tenantId)
    .select('id', 'partition')
    .where('status', 'rejected')
    .whereNull('originalId')
    .whereNot('runId', runId)
    .orderBy('id')
    .limit(pageSize);
  if (filter.id === undefined) void query.where('id', '<', usageEventIdAt(new Date(until)));
  if (afterId !== null) void query.where('id', '>', afterId);
  return filterUsageEvents(query, tenantId, filter).execute();
}

function lockRejected(
  trx: Knex.Transaction,
  tenantId: string,
  ids: readonly string[],
): Promise<UsageEvent[]> {
  return UsageEvent.withText(UsageEvent.query(trx).forTenant(tenantId))
    .whereIn('id', [...ids])
    .where('status', 'rejected')
    .whereNull('originalId')
    .orderBy('id')
    .forUpdate()
    .execute();
}
