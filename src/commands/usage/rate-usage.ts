import type { Knex } from 'knex';
import { mapInPortions, Portions } from '../../kernel/portions.js';
import type { Scope } from '../../kernel/scope.js';
import { usageEventId, type UsageRecord } from '../../messages/usage-log.js';
import { insertMessages, pageBytesMax } from '../../models/usage/event-message.js';
import { Execution } from '../../models/flows/execution.js';
import { beginRating } from '../../models/usage/corrections/known-instant.js';
import { noChange, UsageConsumer } from '../../models/usage/log-offset.js';
import { findOriginalIds } from '../../models/usage/finding/usage-identity.js';
import { UsageCounter } from '../../models/usage/usage-counter.js';
import { UsageEvent, type UsageCounts } from '../../models/usage/usage-event.js';
import { readMessage, type ReadMessage } from '../../queries/usage/usage-message.js';
import {
  prepareAhead,
  UsageRater,
  type Outcome,
  type PreparedAhead,
} from '../../queries/usage/usage-rater.js';
import { ratePrepared, type UsageEvent as ReadEvent } from '../../rating/index.js';
import { nameAccounts } from './named-accounts.js';
import { UsageBatch, type UsageEnds } from './usage-batch.js';
import { makeUsagePartitions } from '../../models/usage/finding/usage-partition.js';
import { isRace, isUnstorable, lacksPartition } from '../../kernel/sql-state.js';

/** A range of offsets of a partition, and the workflow run that rates it. */
export interface RateUsageInput {
  readonly partition: number;
  readonly from: number;
  /** The offset after the stretch. */
  readonly end: number;
  /** The records of the range, in their order; an offset without a record holds no event. */
  readonly records: readonly ParsedRecord[];
  /** What was prepared of them before. */
  readonly ahead?: PreparedAhead | undefined;
  /** Whether the log keeps the messages in the database; else they are written with the events. */
  readonly areKept: boolean;
  readonly workflowId: string;
  readonly runId: string;
  /** Asked after each transaction: whether the rest of the range is to be left to somebody else. */
  readonly isOver?: () => boolean;
  /** Called with errors of rating that are faults of the product. */
  readonly onFault: (error: unknown) => void;
  /** Called when all of a transaction is computed, before it is written. */
  readonly onWriting?: () => void;
  /**
   * Called with the counts committed now; records that were consumed before are not counted again.
   */
  readonly onRated?: (ends: UsageEnds) => void;
  /** Called with the number of partitions that were missing for the records and have been made. */
  readonly onLatePartitions?: (made: number) => void;
}

/** The range begins behind the consumer's offset, so rating it would leave a gap. */
export class UsageGapError extends Error {}

/** A record of the usage log with its message. */
export interface ParsedRecord {
  readonly record: UsageRecord;
  readonly message: ReadMessage;
}

/** Parses records. */
export const parseRecords = (records: readonly UsageRecord[]): Promise<ParsedRecord[]> =>
  mapInPortions(records, (record) => ({ record, message: readMessage(record.message) }));

/** Prepares what will be rated next, while the database writes what is rated now. */
export const prepareRecords = (
  { db, tenantId }: Scope,
  records: readonly ParsedRecord[],
): Promise<PreparedAhead> => prepareAhead(db.read, tenantId, eventsOf(records));

function eventsOf(records: readonly ParsedRecord[]): ReadEvent[] {
  const events: ReadEvent[] = [];
  for (const { message } of records) if (message.read.ok) events.push(message.read.event);
  return events;
}

const racesMax = 5;

/**
 * Rates records of the usage log (docs/decisions/0043). Events, charges, counters and the
 * consumer's offset are written in one transaction, so that a crash leaves all or none of them.
 * Records that were consumed before are only counted: a repeated call is idempotent. What takes too
 * long ends between two transactions, and the rest is left to the caller (docs/decisions/0188).
 * `usage-batch.ts` detects duplicates; charges for days that are billed already are queued by the
 * trigger `queue_unbilled` (migrations/*record-billed-usage.js).
 */
export async function rateUsage(scope: Scope, input: RateUsageInput): Promise<RatedPart> {
  const { from, end, isOver } = input;
  let done: RatedPart = { counts: noCounts, next: from };
  while (done.next < end && (done.next === from || isOver?.() !== true)) {
    const { counts, next } = done;
    const records = input.records.filter(({ record }) => record.offset >= next);
    const more = await rateSome(scope, { ...input, from: next, records });
    done = { counts: addCounts(counts, more.counts), next: more.next };
  }
  return done;
}

/** The counts of a part of a range, and the offset at which the rest begins. */
export interface RatedPart {
  readonly counts: UsageCounts;
  readonly next: number;
}

/** Rates the beginning of a range, up to the limits of one transaction. */
async function rateSome(scope: Scope, input: RateUsageInput): Promise<RatedPart> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await rateAtOnce(scope, input);
    } catch (error) {
      if (isRace(error) && attempt < racesMax) continue;
      if (lacksPartition(error) && attempt < racesMax) {
        await makePartitionsOf(scope, input);
        continue;
      }
      if (!isUnstorable(error)) throw error;
      input.onFault(error);
      return rateApart(scope, input, error);
    }
  }
}

/**
 * Makes the partitions of months that nobody expected: a clock was wrong when these records were
 * received (docs/decisions/0344). Workers make all others ahead.
 */
async function makePartitionsOf({ db }: Scope, input: RateUsageInput): Promise<void> {
  const made = await db.transaction((trx) =>
    makeUsagePartitions(
      trx,
      input.records.map(({ record }) => record.receivedAt),
    ),
  );
  if (made > 0) input.onLatePartitions?.(made);
}

/**
 * A record that cannot be stored is a fault of the product; it must not block the others. Halves
 * the batch until the record is found, and rejects it.
 */
async function rateApart(scope: Scope, input: RateUsageInput, cause: unknown): Promise<RatedPart> {
  const { records, isOver } = input;
  if (records.length === 1) {
    return rateAtOnce(scope, input, cause);
  }
  const half = Math.ceil(records.length / 2);
  const middle = records[half]?.record.offset ?? input.end;
  const first = await rateUsage(scope, { ...input, end: middle, records: records.slice(0, half) });
  if (first.next < middle || isOver?.() === true) return first;
  const second = await rateUsage(scope, { ...input, from: middle, records: records.slice(half) });
  return { counts: addCounts(first.counts, second.counts), next: second.next };
}

async function rateAtOnce(
  scope: Scope,
  input: RateUsageInput,
  fault?: unknown,
): Promise<RatedPart> {
  const { counts, ends, next } = await scope.db.transaction((trx) =>
    rateInTransaction(trx, scope, input, fault),
  );
  if (ends !== undefined) input.onRated?.(ends);
  return { counts, next };
}

const addCounts = (a: UsageCounts, b: UsageCounts): UsageCounts => ({
  rated: a.rated + b.rated,
  duplicate: a.duplicate + b.duplicate,
  rejected: a.rejected + b.rejected,
});

async function rateInTransaction(
  trx: Knex.Transaction,
  scope: Scope,
  input: RateUsageInput,
  fault?: unknown,
): Promise<RatedPart & { readonly ends?: UsageEnds }> {
  const { tenantId } = scope;
  const { partition, from, records, workflowId, runId } = input;
  const begunAt = scope.realNow();
  // One round trip, in this order: who asks what is known waits for no lock but the first.
  const [knownAt, next, found] = await Promise.all([
    beginRating(trx, tenantId),
    UsageConsumer.lock(trx, tenantId, partition),
    findOriginalIds(trx, tenantId, externalIdsOf(records)),
  ]);
  const at = scope.now();
  if (next < from)
    throw new UsageGapError(`Partition ${partition} goes on at ${next}, not ${from}.`);
  const done = { partition, from, to: Math.min(next, input.end) };
  const counts = next === from ? noCounts : await UsageEvent.countRange(trx, tenantId, done);
  if (next >= input.end) return { counts, next: input.end };

  const rest = records.filter(({ record }) => record.offset >= next);
  const known = next === from ? found : undefined;
  const { originals, candidates } = await lockOriginals(trx, tenantId, rest, known);
  const batch = new UsageBatch({ workflowId, runId, at }, knownAt);
  for (const original of originals) batch.addStored(original);
  const rater = await UsageRater.open(trx, tenantId, eventsOf(candidates), ratePrepared, {
    readCounters: (keys) => UsageCounter.lock(trx, tenantId, keys),
    onFault: input.onFault,
    ahead: input.ahead,
  });
  const named = await nameAccounts(trx, tenantId, rater, candidates);
  const takes = ({ message }: ParsedRecord): boolean => !batch.isFull && rater.takes(message.read);
  const rate = ({ record, message }: ParsedRecord, portions: Portions): Promise<void> => {
    const id = usageEventId(record.receivedAt, partition, record.offset);
    const { offset, orgId, receivedAt, message: text } = record;
    const accountId = named.accountOf(message);
    const place = { id, partition, offset, orgId, receivedAt, accountId, text };
    batch.add(place, message, () => (fault === undefined ? named.rate(message) : refused));
    return batch.charge(portions);
  };
  const candidatesEnd = rest[candidates.length]?.record.offset ?? input.end;
  const { end, count } = await rateEach(takes, candidates, candidatesEnd, rate);
  input.onWriting?.();
  const taken = candidates.slice(0, count).map(({ record }) => record);
  if (!input.areKept) await insertMessages(trx, tenantId, partition, taken);
  const tallies = batch.tallies();
  const own = tallies.get(partition) ?? noChange();
  tallies.set(partition, own);
  const moved = { nextOffset: end, skipped: end - next - count };
  const advancing = [...tallies]
    .sort(([a], [b]) => a - b)
    .map(([of, change]) =>
      UsageConsumer.advancing(tenantId, of, of === partition ? { ...change, ...moved } : change),
    );
  const added = batch.counts();
  const counting = Execution.addingCounts(tenantId, {
    workflow: 'rateUsage',
    workflowId,
    runId,
    actor: scope.actor,
    input: { partition, firstOffset: from, endOffset: end },
    output: { ...added },
    startedAt: begunAt,
    completedAt: scope.realNow(),
  });
  await batch.write(trx, scope, rater.movedCounters(), [...advancing, counting]);
  await batch.settle(trx, scope);
  return { counts: addCounts(counts, added), ends: batch.ends(), next: end };
}

/**
 * Rates candidates in portions within the limits of one transaction; returns the number and the
 * end.
 */
async function rateEach(
  takes: (candidate: ParsedRecord) => boolean,
  candidates: readonly ParsedRecord[],
  end: number,
  rate: (candidate: ParsedRecord, portions: Portions) => Promise<void>,
): Promise<{ readonly end: number; readonly count: number }> {
  const portions = new Portions();
  for (const [count, candidate] of candidates.entries()) {
    if (!takes(candidate)) return { end: candidate.record.offset, count };
    await rate(candidate, portions);
  }
  return { end, count: candidates.length };
}

const noCounts: UsageCounts = { rated: 0, duplicate: 0, rejected: 0 };

/** The outcome of a record that cannot be stored with its charges. */
const refused: Outcome = {
  status: 'rejected',
  accountId: null,
  code: 'INTERNAL_ERROR',
  reason: 'The charges of this event could not be stored because of an error on our side.',
};

function externalIdsOf(records: readonly ParsedRecord[]): string[] {
  const externalIds = new Set<string>();
  for (const { message } of records) {
    if (message.externalTransactionId !== null) externalIds.add(message.externalTransactionId);
  }
  return [...externalIds];
}

/**
 * The originals of records, of as many of the first of these as have originals that may be held at once
 * (docs/decisions/0482); `found` has their ids, where these were asked for.
 */
async function lockOriginals(
  trx: Knex.Transaction,
  tenantId: string,
  records: readonly ParsedRecord[],
  found: readonly string[] | undefined,
): Promise<{ originals: readonly UsageEvent[]; candidates: readonly ParsedRecord[] }> {
  const asked = externalIdsOf(records);
  const { originals, count } = await UsageEvent.lockOriginals(trx, tenantId, asked, {
    bytesMax: pageBytesMax,
    found: found ?? (await findOriginalIds(trx, tenantId, asked)),
  });
  const left = new Set(asked.slice(count));
  const cut = records.findIndex(({ message }) => left.has(message.externalTransactionId ?? ''));
  return { originals, candidates: cut < 0 ? records : records.slice(0, cut) };
}
