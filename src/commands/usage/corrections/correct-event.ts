import type { Knex } from 'knex';
import { newId } from '../../../kernel/id.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { UsageCorrection } from '../../../models/usage/corrections/usage-correction.js';
import { UsageEventChange } from '../../../models/usage/corrections/usage-event-change.js';
import { changeList, holdLists } from '../../../models/usage/finding/usage-list-change.js';
import { noChange, UsageConsumer } from '../../../models/usage/usage-consumer.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { insertSearchedIds } from '../../../models/usage/usage-search.js';
import { CorrectedSums } from '../../../queries/usage/corrections/corrected-sums.js';
import {
  readRecordedEvents,
  type RecordedEvent,
} from '../../../queries/usage/corrections/recorded-event.js';
import type { Prepared } from '../../../rating/index.js';
import type { RatingRun } from '../usage-batch.js';
import {
  computeUnits,
  joinUnits,
  lockUnits,
  requestsOf,
  unrateable,
} from './compute-correction.js';
import type { Computed, ComputedUnit } from './compute-correction.js';
import { recordCorrectedEvents } from './correction-webhook-event.js';
import { writeCharges } from './write-correction.js';

/** What is done to an event; `amended` is the content that it gets, null when it is canceled. */
export interface EventCorrection {
  readonly eventId: string;
  readonly reason: string;
  readonly amended: { readonly prepared: Prepared; readonly text: string } | null;
}

/** A correction that was computed without locks. */
export interface PreparedCorrection extends EventCorrection {
  readonly computed: Computed;
}

/** What a correction of one event answers. */
export interface EventCorrected {
  readonly eventId: string;
  readonly status: 'canceled' | 'rated';
  readonly correctionId: string | null;
  readonly executionId: string;
}

/** 409: what was canceled or is a repeat cannot be corrected. */
export function requireCorrectable({ id, status }: Pick<UsageEvent, 'id' | 'status'>): void {
  if (status === 'canceled') {
    throw problem.conflict(`The usage event '${id}' is canceled already.`, { field: 'status' });
  }
  if (status === 'duplicate') {
    throw problem.conflict(
      `The usage event '${id}' is a duplicate: correct its original, which was rated.`,
      { field: 'status' },
    );
  }
}

/** Computes what becomes of the charges, without locks. 400, 404, 409. */
export async function prepareCorrection(
  { db, tenantId }: Scope,
  correction: EventCorrection,
): Promise<PreparedCorrection> {
  const mark = await UsageCorrection.lastChange(db.read, tenantId);
  const event = await readOne(db.read, tenantId, correction.eventId);
  requireCorrectable(event);
  const requests = requestsOf(event, correction.amended?.prepared ?? null);
  const units = await computeUnits(db.read, tenantId, requests);
  return { ...correction, computed: { mark, units } };
}

async function readOne(db: Knex, tenantId: string, id: string): Promise<RecordedEvent> {
  const [event] = await readRecordedEvents(db, tenantId, [id]);
  if (!event) throw problem.notFound(`There is no usage event '${id}'.`);
  return event;
}

/**
 * Cancels or amends an event in the transaction of a step (docs/decisions/0371): its charges are
 * reversed, new ones are added, and so are those of later events whose counters have moved. A
 * rejected event that is canceled is dismissed. 400, 404, 409.
 */
export async function correctEvent(
  scope: Scope,
  correction: PreparedCorrection,
  run: RatingRun & { readonly executionId: string },
): Promise<EventCorrected> {
  const { tenantId } = scope;
  const { eventId, amended, computed } = correction;
  const { executionId } = run;
  return scope.db.transaction(async (trx) => {
    await holdLists(trx, tenantId);
    const units = await lockUnits(trx, tenantId, computed);
    const event = await lockEvent(trx, tenantId, eventId);
    requireRated(units, eventId);
    const isDismissal = amended === null && event.charges.length === 0;
    const correctionId = isDismissal ? null : newId();
    await keepAndChange(trx, scope, correction, run, { event, correctionId });
    const status = amended === null ? 'canceled' : 'rated';
    const statuses = new Map([
      [event.partition, { ...noChange(), [event.status]: -1, ...moved(event.status, status) }],
    ]);
    if (correctionId === null) {
      for (const [partition, change] of statuses) {
        await UsageConsumer.advance(trx, tenantId, partition, change);
      }
    } else {
      const joined = joinUnits(units);
      const pairs = await writeCharges(trx, scope, correctionId, joined, statuses);
      await record(trx, scope, correction, { correctionId, executionId, units, pairs });
    }
    const changed = units.flatMap(({ rerated }) => rerated.changes.map((one) => one.event.id));
    await recordCorrectedEvents(trx, scope, {
      correctionId,
      reason: correction.reason,
      canceled: amended === null ? [eventId] : [],
      corrected: [...new Set(changed)].filter((id) => amended !== null || id !== eventId),
    });
    return { eventId, status, correctionId, executionId };
  });
}

/** What a tally loses and gains; of a rated event that stays one, nothing. */
const moved = (from: string, to: string): Record<string, number> =>
  from === to ? { [from]: 0 } : { [to]: 1 };

/** The event with its charges; its row is locked until the transaction ends. */
async function lockEvent(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
): Promise<RecordedEvent> {
  const found = await UsageEvent.query(trx).forTenant(tenantId).findById(id).select('partition');
  await UsageConsumer.lockAll(trx, tenantId, found ? [found.partition] : []);
  await UsageEvent.query(trx).forTenant(tenantId).findById(id).forUpdate();
  const event = await readOne(trx, tenantId, id);
  requireCorrectable(event);
  return event;
}

/** 400: the event itself cannot be rated with its new content, whatever its counters say. */
function requireRated(units: readonly ComputedUnit[], eventId: string): void {
  const kept = units.flatMap(({ rerated }) => rerated.kept).find((one) => one.eventId === eventId);
  if (kept) throw unrateable(kept.code, kept.message);
}

interface ChangedEvent {
  readonly event: RecordedEvent;
  readonly correctionId: string | null;
}

/** Keeps what the event was, and changes its row and its place in lists. */
async function keepAndChange(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  { eventId, reason, amended }: EventCorrection,
  run: RatingRun,
  { event, correctionId }: ChangedEvent,
): Promise<void> {
  await UsageEventChange.keep(trx, tenantId, {
    eventId,
    reason,
    correctionId,
    change: amended === null ? 'cancel' : 'amend',
    message: amended?.text ?? null,
  });
  const wasRated = event.status === 'rated';
  const of = amended
    ? { account: amended.prepared.owner.accountId, service: amended.prepared.event.serviceId }
    : { account: null, service: null };
  if (amended) {
    await UsageEvent.writeRun(trx, tenantId, run);
    const { timestamp, externalTransactionId } = amended.prepared.event;
    await trx.raw(
      `update usage_event set status = 'rated', code = null, reason = null, account_id = ?,
         service_id = ?, event_at = ?, workflow_id = null, run_id = ?, processed_at = ?,
         external_transaction_id = ?
       where tenant_id = ? and id = ?`,
      [
        of.account,
        of.service,
        timestamp,
        run.runId,
        run.at,
        externalTransactionId,
        tenantId,
        eventId,
      ],
    );
    if (!wasRated) await insertSearchedIds(trx, tenantId, [externalTransactionId]);
  } else {
    await trx.raw(
      `update usage_event set status = 'canceled', code = null, reason = ?
       where tenant_id = ? and id = ?`,
      [reason, tenantId, eventId],
    );
  }
  if (!wasRated) return;
  const list = { eventId };
  await changeList(trx, tenantId, {
    ...list,
    kind: 'account',
    from: event.accountId,
    to: of.account,
  });
  await changeList(trx, tenantId, {
    ...list,
    kind: 'service',
    from: event.serviceId,
    to: of.service,
  });
}

interface Recorded {
  readonly correctionId: string;
  readonly executionId: string;
  readonly units: readonly ComputedUnit[];
  readonly pairs: Parameters<typeof UsageCorrection.write>[3];
}

/** Accounts that the record of a correction names. */
const accountsMax = 1_000;

async function record(
  trx: Knex.Transaction,
  { tenantId, actor }: Scope,
  { eventId, reason, amended }: EventCorrection,
  { correctionId, executionId, units, pairs }: Recorded,
): Promise<void> {
  const { changes } = joinUnits(units);
  const sums = new CorrectedSums();
  for (const { event, outcome } of changes) {
    sums.addBefore(event.charges);
    sums.addRated(outcome?.rated ?? null);
  }
  await UsageCorrection.write(
    trx,
    tenantId,
    {
      id: correctionId,
      kind: amended ? 'amend' : 'cancel',
      reason,
      actor,
      executionId,
      eventId,
      scope: {},
      events: 1,
      changed: changes.length,
      rejected: countKept(units.flatMap(({ rerated }) => rerated.kept)),
      before: sums.totals('before'),
      after: sums.totals('after'),
      accounts: sums.accounts(accountsMax),
    },
    pairs,
  );
}

/** How many events keep their charges, by reason. */
export function countKept(kept: readonly { readonly code: string }[]) {
  const counts = new Map<string, number>();
  for (const { code } of kept) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, events]) => ({ code, events }));
}
