import type { Knex } from 'knex';
import { newId } from '../../../kernel/id.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { publishCorrection } from '../../../models/usage/corrections/known-instant.js';
import { UsageCorrection } from '../../../models/usage/corrections/usage-correction.js';
import { UsageEventChange } from '../../../models/usage/corrections/usage-event-change.js';
import { changeList, holdLists } from '../../../models/usage/finding/usage-list-change.js';
import { requireInDatabase } from '../../../models/usage/finding/dropped-month.js';
import { noChange, UsageConsumer } from '../../../models/usage/log-offset.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { writeTogether } from '../../../models/db/bulk-table.js';
import { searchedIds } from '../../../models/usage/usage-search.js';
import {
  readRecordedEvents,
  type RecordedEvent,
} from '../../../queries/usage/corrections/recorded-event.js';
import type { Rerating } from '../../../queries/usage/corrections/rerating/rerating.js';
import type { Prepared } from '../../../rating/index.js';
import type { RatingRun } from '../usage-batch.js';
import {
  keptOf,
  lockCorrection,
  requestsOf,
  unrateable,
  type LockedCorrection,
} from './compute-correction.js';
import { recordCorrectedEvents } from './correction-webhook-event.js';
import { CorrectionWriter, type StorePlans } from './write-correction.js';

/** What is done to an event; `amended` is the content that it gets, null when it is canceled. */
export interface EventCorrection {
  readonly eventId: string;
  readonly reason: string;
  readonly amended: { readonly prepared: Prepared; readonly text: string } | null;
}

/** What a correction of one event answers. */
export interface EventCorrected {
  readonly eventId: string;
  readonly status: 'canceled' | 'rated';
  readonly correctionId: string | null;
  readonly executionId: string;
}

/** What an event is once it is canceled or amended. */
export const statusAfter = ({
  amended,
}: Pick<EventCorrection, 'amended'>): EventCorrected['status'] =>
  amended === null ? 'canceled' : 'rated';

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

/** 409: the event is in the archive alone, or some of its charges are; a rejected one never is. */
export async function requireEventHere(db: Knex, tenantId: string, id: string): Promise<void> {
  const event = await UsageEvent.query(db).forTenant(tenantId).findById(id).select('status');
  if (event?.status !== 'rejected') await requireInDatabase(db, tenantId, [id]);
}

async function readOne(db: Knex, tenantId: string, id: string): Promise<RecordedEvent> {
  const [event] = await readRecordedEvents(db, tenantId, [id]);
  if (!event) throw problem.notFound(`There is no usage event '${id}'.`);
  return event;
}

/** An event that can be corrected. 404, 409. */
export async function readCorrectable(
  db: Knex,
  tenantId: string,
  id: string,
): Promise<RecordedEvent> {
  await requireEventHere(db, tenantId, id);
  const event = await readOne(db, tenantId, id);
  requireCorrectable(event);
  return event;
}

/** What a correction is carried out with. */
interface Means {
  readonly run: RatingRun;
  readonly executionId: string;
  readonly storePlans: StorePlans;
}

/**
 * Cancels or amends an event in the transaction of a step (docs/decisions/0371, 0385): its charges are
 * reversed, new ones are added, and so are those of later events whose counters have moved. A
 * rejected event that is canceled is dismissed. 400, 404, 409.
 */
export async function correctEvent(
  scope: Scope,
  correction: EventCorrection,
  means: Means,
): Promise<EventCorrected> {
  const { tenantId } = scope;
  const { eventId, amended, reason } = correction;
  const { run, executionId, storePlans } = means;
  return scope.db.transaction(async (trx) => {
    const id = newId();
    const writer = new CorrectionWriter(trx, scope, {
      id,
      reason,
      ownEventId: eventId,
      storePlans,
    });
    await requireEventHere(trx, tenantId, eventId);
    let known = await readOne(trx, tenantId, eventId);
    const locked = await lockCorrection(trx, tenantId, {
      requests: async function* () {
        known = await readOne(trx, tenantId, eventId);
        requireCorrectable(known);
        yield* requestsOf(known, amended?.prepared ?? null);
      },
      writer,
      lockOwn: async () => {
        const event = await lockEvent(trx, tenantId, known);
        return event.status === known.status && event.chargeCount === known.chargeCount;
      },
    });
    requireRated(locked.reratings);
    const isDismissal = amended === null && known.charges.length === 0;
    const correctionId = isDismissal ? null : id;
    const status = statusAfter(correction);
    const statuses = new Map([
      [known.partition, { ...noChange(), [known.status]: -1, ...moved(known.status, status) }],
    ]);
    await writer.finish(locked.counters, locked.stored, statuses);
    const changedAt = await publishCorrection(trx, tenantId);
    await keepAndChange(trx, scope, correction, run, { event: known, correctionId, changedAt });
    await recordCorrectedEvents(trx, scope, {
      correctionId,
      reason,
      canceled: amended === null ? [eventId] : [],
      corrected: amended === null ? [] : [eventId],
    });
    if (correctionId !== null) {
      await record(trx, scope, correction, { id, executionId, writer, locked, changedAt });
    }
    return { eventId, status, correctionId, executionId };
  });
}

/** What a tally loses and gains; of a rated event that stays one, nothing. */
const moved = (from: string, to: string): Record<string, number> =>
  from === to ? { [from]: 0 } : { [to]: 1 };

/** The event with its charges; its row and the lists are locked until the transaction ends. */
async function lockEvent(
  trx: Knex.Transaction,
  tenantId: string,
  { id, partition }: RecordedEvent,
): Promise<RecordedEvent> {
  await holdLists(trx, tenantId);
  await UsageConsumer.lockAll(trx, tenantId, [partition]);
  await UsageEvent.query(trx).forTenant(tenantId).findById(id).forUpdate();
  // Asked under the lock, which a drop of the month waits for.
  return readCorrectable(trx, tenantId, id);
}

/** 400: the event itself cannot be rated with its new content, whatever its counters say. */
export function requireRated(reratings: readonly Rerating[]): void {
  for (const { result } of reratings) {
    if (result.refused) throw unrateable(result.refused.code, result.refused.message);
  }
}

interface ChangedEvent {
  readonly event: RecordedEvent;
  readonly correctionId: string | null;
  readonly changedAt: string;
}

/** Keeps what the event was, and changes its row and its place in lists. */
async function keepAndChange(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  { eventId, reason, amended }: EventCorrection,
  run: RatingRun,
  { event, correctionId, changedAt }: ChangedEvent,
): Promise<void> {
  await UsageEventChange.keep(trx, tenantId, [eventId], {
    reason,
    correctionId,
    changedAt,
    change: amended === null ? 'cancel' : 'amend',
    message: amended?.text ?? null,
  });
  const wasRated = event.status === 'rated';
  const of = amended
    ? { account: amended.prepared.owner.accountId, service: amended.prepared.event.serviceId }
    : { account: null, service: null };
  if (amended) {
    await writeTogether(trx, [UsageEvent.namingRun(tenantId, run)]);
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
    if (!wasRated) await writeTogether(trx, searchedIds(tenantId, [externalTransactionId]));
  } else {
    await UsageEvent.cancel(trx, tenantId, [eventId], reason);
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
  readonly id: string;
  readonly executionId: string;
  readonly writer: CorrectionWriter;
  readonly locked: LockedCorrection;
  readonly changedAt: string;
}

/** Accounts that the record of a correction names. */
const accountsMax = 1_000;

function record(
  trx: Knex.Transaction,
  { tenantId, actor }: Scope,
  { eventId, reason, amended }: EventCorrection,
  { id, executionId, writer, locked, changedAt }: Recorded,
): Promise<void> {
  const { sums, changed } = writer.figures;
  return UsageCorrection.write(trx, tenantId, {
    id,
    kind: amended ? 'amend' : 'cancel',
    reason,
    actor,
    executionId,
    eventId,
    scope: {},
    events: 1,
    changed,
    rejected: keptOf(locked.reratings),
    before: sums.totals('before'),
    after: sums.totals('after'),
    accounts: sums.accounts(accountsMax),
    createdAt: changedAt,
  });
}
