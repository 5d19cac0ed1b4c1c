import type { Knex } from 'knex';
import { inPortions } from '../../../kernel/portions.js';
import { problem } from '../../../kernel/problem.js';
import { UsageCorrection } from '../../../models/usage/corrections/usage-correction.js';
import { UsageConsumer } from '../../../models/usage/usage-consumer.js';
import { readCounters } from '../../../models/usage/corrections/metered-counter.js';
import { findMembers, type MeterOwner } from '../../../queries/usage/corrections/meter-members.js';
import type { RecordedEvent } from '../../../queries/usage/corrections/recorded-event.js';
import {
  rerate,
  type Fate,
  type RatedAgain,
  type Rerated,
  type RerateRequest,
} from '../../../queries/usage/corrections/rerate.js';
import { loadRatingContexts } from '../../../queries/usage/rating-context.js';
import {
  choosePlan,
  compileInPieces,
  prepareFromPlan,
  type Prepared,
  type UsageEvent,
} from '../../../rating/index.js';

/** What is rated again for one account and service, with what came out. */
export interface ComputedUnit {
  readonly request: RerateRequest;
  readonly rerated: Rerated;
}

/** What was computed without locks, and what tells whether it still holds. */
export interface Computed {
  /** `UsageCorrection.lastChange` before it was computed. */
  readonly mark: string | null;
  readonly units: readonly ComputedUnit[];
}

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
  await inPortions(compileInPieces(planned.plan));
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
  targets: [eventId],
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

/** Computes a correction without locking anything. */
export async function computeUnits(
  db: Knex,
  tenantId: string,
  requests: readonly RerateRequest[],
  isLocked = false,
): Promise<ComputedUnit[]> {
  const units: ComputedUnit[] = [];
  for (const request of requests) {
    units.push({ request, rerated: await rerate(db, tenantId, request, { isLocked }) });
  }
  return units;
}

/**
 * The units as they are with the counters locked: as they were computed, unless usage was rated or
 * corrected meanwhile; then they are computed again.
 */
export async function lockUnits(
  trx: Knex.Transaction,
  tenantId: string,
  { mark, units }: Computed,
): Promise<readonly ComputedUnit[]> {
  const turn = await UsageCorrection.takeTurn(trx, tenantId);
  const changes = units.flatMap(({ rerated }) => rerated.changes);
  // Partitions before counters, the order of rating.
  await UsageConsumer.lockAll(trx, tenantId, [
    ...new Set(changes.map(({ event }) => event.partition)),
  ]);
  const ids = units.flatMap(({ rerated }) => [...rerated.counters.keys()]);
  const locked = await readCounters(trx, tenantId, ids, true);
  let isCurrent = turn === mark;
  for (const { request, rerated } of units) {
    const counters = [...rerated.counters];
    if (counters.length === 0 || !isCurrent) continue;
    isCurrent = counters.every(([id, { counter }]) => {
      const now = locked.get(id)?.stored ?? null;
      return now === null ? counter.stored === null : counter.stored?.equals(now) === true;
    });
    if (!isCurrent) continue;
    const known = counters.map(([, { counter }]) => counter);
    isCurrent = (await findMembers(trx, tenantId, request, known)).length === rerated.members;
  }
  if (isCurrent) return units;
  return computeUnits(
    trx,
    tenantId,
    units.map(({ request }) => request),
    true,
  );
}

/** The changes of all units: of an event that moves, one that goes from one and comes to another. */
export function joinUnits(units: readonly ComputedUnit[]): Pick<Rerated, 'changes' | 'counters'> {
  const changes = new Map<string, RatedAgain>();
  for (const change of units.flatMap(({ rerated }) => rerated.changes)) {
    const known = changes.get(change.event.id);
    changes.set(change.event.id, known ? { ...known, outcome: change.outcome } : change);
  }
  const counters = new Map(units.flatMap(({ rerated }) => [...rerated.counters]));
  return { changes: [...changes.values()], counters };
}
