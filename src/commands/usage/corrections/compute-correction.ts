import type { Knex } from 'knex';
import { readAhead } from '../../../kernel/read-ahead.js';
import { problem } from '../../../kernel/problem.js';
import {
  UsageCorrection,
  type KeptEvents,
} from '../../../models/usage/corrections/usage-correction.js';
import { StoredRatingPlan } from '../../../models/usage/plans/rating-plan.js';
import { UsageConsumer } from '../../../models/usage/log-offset.js';
import {
  readCounters,
  type MeteredCounter,
} from '../../../models/usage/corrections/metered-counter.js';
import {
  findRatedBetween,
  readLogMark,
  type LogMark,
} from '../../../queries/usage/corrections/log-mark.js';
import type { MeterOwner, PlacedEvent } from '../../../queries/usage/corrections/meter-members.js';
import type { RecordedEvent } from '../../../queries/usage/corrections/recorded-event.js';
import type {
  ChangeSink,
  Fate,
  MovedCounters,
  RerateRequest,
} from '../../../queries/usage/corrections/rerating/rerate-request.js';
import { Rerating } from '../../../queries/usage/corrections/rerating/rerating.js';
import { loadRatingContexts } from '../../../queries/usage/rating-context.js';
import {
  choosePlan,
  prepareFromPlan,
  type Prepared,
  type UsageEvent,
} from '../../../rating/index.js';
import type { CorrectionWriter } from './write-correction.js';

/** Rates an event with what is in force now. 400: it cannot be rated, with the code. */
export async function prepareAnew(
  db: Knex,
  tenantId: string,
  event: UsageEvent,
): Promise<Prepared> {
  const contextOf = await loadRatingContexts(db, tenantId, [event]);
  const context = contextOf(event);
  if (!context) throw new Error('The facts of one event are always loaded.');
  const planned = choosePlan(event, context);
  if (!planned.ok) throw unrateable(planned.code, planned.message);
  await StoredRatingPlan.prepare(planned.plan);
  const prepared = prepareFromPlan(planned.plan, event, planned.owner);
  if (!prepared.ok) throw unrateable(prepared.code, prepared.message);
  return prepared;
}

export const unrateable = (code: string, message: string) =>
  problem.validation(`The event cannot be rated with this content: ${code}: ${message}`, {
    field: 'message',
    code,
  });

/** The request that one event is taken out of the usage of an account, or comes to it. */
const requestOf = (owner: MeterOwner, eventId: string, fate: Fate, isMovedIn: boolean) => ({
  owner,
  targets: [{ id: eventId }],
  fatesOf: () => Promise.resolve(new Map([[eventId, fate]])),
  isForced: true,
  isMovedIn,
});

/**
 * What becomes of an event that goes, or gets other content: of the account and service that it had,
 * and of those that it comes to, where these are others.
 */
export function requestsOf(
  event: RecordedEvent,
  prepared: Prepared | null,
): readonly RerateRequest[] {
  const { id, accountId, serviceId, charges } = event;
  const had =
    charges.length > 0 && accountId !== null && serviceId !== null
      ? { accountId, serviceId }
      : null;
  if (!prepared) return had ? [requestOf(had, id, { kind: 'removed' }, false)] : [];
  const owner = { accountId: prepared.owner.accountId, serviceId: prepared.event.serviceId };
  const fate: Fate = { kind: 'anew', prepared };
  const stays =
    had === null || (had.accountId === owner.accountId && had.serviceId === owner.serviceId);
  return stays
    ? [requestOf(owner, id, fate, false)]
    : [requestOf(had, id, { kind: 'removed' }, false), requestOf(owner, id, fate, true)];
}

/** What is to be rated again, one account and service after another. */
type Requests = () => AsyncIterable<RerateRequest>;

/** Rates all of it again, without locking anything; while one is rated, the next is read. */
export async function rerateAll(
  db: Knex,
  tenantId: string,
  requests: Requests,
  sink: ChangeSink,
  mark: LogMark | null = null,
): Promise<Rerating[]> {
  async function* opened(): AsyncGenerator<Rerating> {
    for await (const request of requests()) {
      const rerating = new Rerating(db, tenantId, request, sink);
      await rerating.open(mark);
      yield rerating;
    }
  }
  const reratings: Rerating[] = [];
  for await (const rerating of readAhead(opened())) {
    await rerating.run(mark);
    reratings.push(rerating);
  }
  return reratings;
}

/** So little usage that it is caught up with while others wait. */
const fewEvents = 100;
const roundsMax = 20;
/** How often all is rated again because usage came that belongs before the last. */
const attemptsMax = 5;

/**
 * Follows usage that was rated since the mark; the new mark, or null: some of it belongs before what was
 * rated again. Round by round less has come meanwhile.
 */
async function catchUp(
  trx: Knex.Transaction,
  tenantId: string,
  reratings: readonly Rerating[],
  since: LogMark,
): Promise<LogMark | null> {
  let mark = since;
  for (let round = 0; round < roundsMax; round += 1) {
    const now = await readLogMark(trx, tenantId);
    const came = await findRatedBetween(trx, tenantId, mark, now);
    if (came === null) return null;
    const byOwner = groupByOwner(came);
    for (const rerating of reratings) {
      const own = byOwner.get(ownerKey(rerating.owner)) ?? [];
      if (!(await rerating.catchUp(own))) return null;
    }
    mark = now;
    if (came.length < fewEvents) break;
  }
  return mark;
}

function groupByOwner(came: readonly Required<PlacedEvent>[]) {
  const groups = new Map<string, Required<PlacedEvent>[]>();
  for (const event of came) {
    const group = groups.get(ownerKey(event));
    if (group) group.push(event);
    else groups.set(ownerKey(event), [event]);
  }
  return groups;
}

const ownerKey = ({ accountId, serviceId }: MeterOwner): string => `${accountId}/${serviceId}`;

/** What was rated again, with partitions and counters locked. */
export interface LockedCorrection {
  readonly reratings: readonly Rerating[];
  readonly counters: MovedCounters;
  /** The counters as they are stored. */
  readonly stored: ReadonlyMap<string, MeteredCounter>;
}

interface LockRequest {
  readonly requests: Requests;
  readonly writer: CorrectionWriter;
  /** Locks what else the correction changes, after the partitions; false: it is not as it was. */
  readonly lockOwn: () => Promise<boolean>;
}

/**
 * Rates again and ends with partitions and counters locked, in the order of rating, when nothing is left
 * to be rated: rating waits for that alone (docs/decisions/0385). Corrections of a tenant take turns.
 */
export async function lockCorrection(
  trx: Knex.Transaction,
  tenantId: string,
  { requests, writer, lockOwn }: LockRequest,
): Promise<LockedCorrection> {
  await UsageCorrection.takeTurn(trx, tenantId);
  await writer.begin();
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    if (attempt > 1) await writer.restart();
    const start = await readLogMark(trx, tenantId);
    const reratings = await rerateAll(trx, tenantId, requests, writer, start);
    const mark = await catchUp(trx, tenantId, reratings, start);
    if (!mark) continue;
    await writer.flush();
    await UsageConsumer.lockAll(trx, tenantId, writer.partitions);
    const isAsItWas = await lockOwn();
    const stored = await readCounters(trx, tenantId, countersOf(reratings).ids, true);
    if (isAsItWas && (await catchUp(trx, tenantId, reratings, mark))) {
      return { reratings, counters: countersOf(reratings).moved, stored };
    }
  }
  throw new Error(
    'Usage of these counters was rated again and again: the correction is tried later.',
  );
}

function countersOf(reratings: readonly Rerating[]) {
  const moved: MovedCounters = new Map(reratings.flatMap(({ counters }) => [...counters]));
  return { moved, ids: [...moved.keys()] };
}

/** How many events keep their charges, by code. */
export function keptOf(reratings: readonly Rerating[]): KeptEvents[] {
  const counts = new Map<string, number>();
  for (const { result } of reratings) {
    for (const [code, events] of result.kept) counts.set(code, (counts.get(code) ?? 0) + events);
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, events]) => ({ code, events }));
}
