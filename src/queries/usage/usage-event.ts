import type { Static } from 'typebox';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import {
  placeOfUsageEvent,
  usageEventId,
  usageTopic,
  type PartitionOffset,
  type UsageLogReader,
  type UsageRecord,
} from '../../messages/usage-log.js';
import type { ArchiveFiles } from '../../messages/ageing/usage-archive.js';
import { findOriginalIds } from '../../models/usage/finding/usage-identity.js';
import { UsageConsumer } from '../../models/usage/log-offset.js';
import { awaitKnown } from '../../models/usage/corrections/known-instant.js';
import { UsageEvent } from '../../models/usage/usage-event.js';
import type * as schema from '../../schemas/usage/usage-event.js';
import { findInvoicesOf } from '../billing/invoice-parts.js';
import { readInstantOf } from '../lists/time-range.js';
import { findBilledBefore } from './corrections/billed-before.js';
import { eventKnownOn } from './corrections/event-known-on.js';
import { explainCharges } from './usage-explanation.js';
import { answerFromArchive } from './archive/answer-from-archive.js';
import { findGoneMessages, messageOf } from './gone-message.js';
import { readMessage, type ReadMessage } from './usage-message.js';

export type UsageEventDto = Static<typeof schema.UsageEvent>;
export type UsageEventSummaryDto = Static<typeof schema.UsageEventSummary>;

export type LoggedRecord = UsageRecord & { readonly partition: number };

/** A stored event as the list shows it. */
export function presentUsageSummary(
  event: UsageEvent,
  message: ReadMessage = messageOf(event),
): UsageEventSummaryDto {
  const { id, externalTransactionId, status, reason, partition, accountId, serviceId } = event;
  return {
    id,
    externalTransactionId,
    status,
    code: event.code as UsageEventSummaryDto['code'],
    reason,
    topic: usageTopic(event.tenantId),
    partition,
    offset: Number(event.offset),
    morgId: event.orgId,
    billingAccountRef: message.accountRef,
    accountId,
    serviceId,
    eventTimestamp: message.eventAt,
    receivedAt: event.receivedAt.toISOString(),
    processedAt: event.processedAt.toISOString(),
    workflowId: event.workflow,
    runId: event.runId,
    originalId: event.originalId,
    messageNote: event.gone?.note ?? null,
  };
}

export function presentPending(tenantId: string, record: LoggedRecord): UsageEventSummaryDto {
  const { partition, offset, receivedAt } = record;
  const message = readMessage(record.message);
  return {
    id: usageEventId(receivedAt, partition, offset),
    externalTransactionId: message.externalTransactionId,
    status: 'pending',
    code: null,
    reason: null,
    topic: usageTopic(tenantId),
    partition,
    offset,
    morgId: record.orgId,
    billingAccountRef: message.accountRef,
    accountId: null,
    serviceId: message.serviceId,
    eventTimestamp: message.eventAt,
    receivedAt: receivedAt.toISOString(),
    processedAt: null,
    workflowId: null,
    runId: null,
    originalId: null,
    messageNote: null,
  };
}

/** The consumer offsets of all partitions in the log. */
export async function findPendingFrom(
  scope: Scope,
  log: UsageLogReader,
): Promise<{ from: PartitionOffset[]; count: number }> {
  const { tenantId, db } = scope;
  // Reads the consumers first: the log only grows, so no event is counted twice.
  const consumers = await UsageConsumer.query(db.read).forTenant(tenantId);
  const consumed = new Map(consumers.map((each) => [each.partition, Number(each.nextOffset)]));
  const ends = await log.ends(tenantId);
  const from = ends.map(({ partition }) => ({ partition, offset: consumed.get(partition) ?? 0 }));
  const count = ends.reduce((sum, end, index) => sum + end.offset - (from[index]?.offset ?? 0), 0);
  return { from, count };
}

/**
 * An external id usually has few events; of a sender that repeats one endlessly, only the newest
 * are found.
 */
const pendingMatchesMax = 1000;

export async function findPendingByExternalId(
  scope: Scope,
  log: UsageLogReader,
  from: readonly PartitionOffset[],
  externalId: string,
): Promise<LoggedRecord[]> {
  const { records } = await log.readNewest(scope.tenantId, from, {
    limit: pendingMatchesMax,
    offset: 0,
    containing: JSON.stringify(externalId),
  });
  return records.filter(({ message }) => readMessage(message).externalTransactionId === externalId);
}

/** A stored event by our id, else the original of an external id. */
export async function findUsageEvent(scope: Scope, key: string): Promise<UsageEvent | undefined> {
  const { tenantId, db } = scope;
  const byId = isUuid(key)
    ? await UsageEvent.withText(UsageEvent.query(db.read).forTenant(tenantId)).findById(key)
    : undefined;
  return byId ?? UsageEvent.withText(UsageEvent.ofExternalIds(db.read, tenantId, [key])).first();
}

async function findPending(
  scope: Scope,
  log: UsageLogReader,
  key: string,
): Promise<LoggedRecord | undefined> {
  const { from } = await findPendingFrom(scope, log);
  const place = isUuid(key) ? placeOfUsageEvent(key) : undefined;
  if (place) {
    const { partition, offset } = place;
    const isPending = from.some((each) => each.partition === partition && each.offset <= offset);
    const record = isPending ? await log.readOne(scope.tenantId, partition, offset) : undefined;
    const isSame =
      record && usageEventId(record.receivedAt, partition, offset) === key.toLowerCase();
    if (isSame) return { ...record, partition };
  }
  const [newest] = await findPendingByExternalId(scope, log, from, key);
  return newest;
}

/** The id that a key names, whether the database has the event or the archive. */
async function idsNamed(
  { db, tenantId }: Scope,
  key: string,
  stored: UsageEvent | undefined,
): Promise<readonly string[]> {
  if (stored) return [stored.id];
  return isUuid(key) ? [key.toLowerCase()] : findOriginalIds(db.read, tenantId, [key]);
}

/** Where usage is read that the database has not: what waits in the log, what is in the archive. */
export interface UsageSources {
  readonly broker: UsageLogReader;
  readonly archive?: ArchiveFiles | undefined;
}

/** What is asked for of an event. */
interface Asked {
  /** The instant at which it was known so. */
  readonly knownOn?: string;
  /** Whether each charge names the invoice that bills it now. */
  readonly invoices?: boolean;
}

/**
 * One event with its charges explained (spec/rating.md R64, R65), as it is or as it was known at an
 * instant. 404 when there is none, or was none then.
 */
export async function getUsageEvent(
  scope: Scope,
  sources: UsageSources,
  key: string,
  { knownOn, invoices = false }: Asked = {},
): Promise<UsageEventDto> {
  const event = await readUsageEvent(scope, sources, key, readInstantOf(knownOn));
  if (!invoices) return event;
  const { ratedTransactions } = event;
  const { db, tenantId } = scope;
  const found = await findInvoicesOf(db.read, tenantId, ratedTransactions);
  const before = await findBilledBefore(db.read, tenantId, event.id, ratedTransactions);
  const withInvoice = ratedTransactions.map((charge) => ({
    ...charge,
    invoice: found.get(charge.id ?? '') ?? null,
    billedBefore: before.get(charge.id ?? '') ?? null,
  }));
  return { ...event, ratedTransactions: withInvoice };
}

async function readUsageEvent(
  scope: Scope,
  { broker: log, archive }: UsageSources,
  key: string,
  knownOn: Date | null,
): Promise<UsageEventDto> {
  if (knownOn) await awaitKnown(scope.db.read, scope.tenantId);
  const stored = await findUsageEvent(scope, key);
  const archived = await answerFromArchive(
    scope,
    archive,
    await idsNamed(scope, key, stored),
    async (inside) => {
      const event = await findUsageEvent(inside, key);
      return event ? presentUsageEvent(inside, event, knownOn) : undefined;
    },
  );
  if (archived) return archived;
  if (stored) return presentUsageEvent(scope, stored, knownOn);
  const pending = await findPending(scope, log, key);
  // The event may have been rated between the two reads.
  const rated = pending ? undefined : await findUsageEvent(scope, key);
  if (rated) return presentUsageEvent(scope, rated, knownOn);
  if (!pending || (knownOn && pending.receivedAt > knownOn))
    throw problem.notFound(`There is no usage event '${key}'.`);
  return {
    ...presentPending(scope.tenantId, pending),
    message: readMessage(pending.message).content,
    ratedTransactions: [],
  };
}

async function presentUsageEvent(
  scope: Scope,
  now: UsageEvent,
  knownOn: Date | null,
): Promise<UsageEventDto> {
  const event = knownOn ? await eventKnownOn(scope, now, knownOn) : now;
  if (!event) throw problem.notFound(`There was no usage event '${now.id}' at that instant.`);
  if (knownOn && event.processedAt > knownOn) return presentUnprocessed(event);
  await findGoneMessages(scope.db.read, scope.tenantId, [event]);
  const message = messageOf(event);
  const charges =
    event.status === 'rated' ? await explainCharges(scope, event, message, knownOn) : [];
  return {
    ...presentUsageSummary(event, message),
    messageNote: event.gone ? `${event.gone.note}${explainedBy(charges)}` : null,
    message: message.content,
    ratedTransactions: charges,
  };
}

/** An event that was accepted then, and neither rated nor rejected. */
function presentUnprocessed(event: UsageEvent): UsageEventDto {
  const { tenantId, partition, orgId, receivedAt, text } = event;
  const offset = Number(event.offset);
  const record = { partition, offset, orgId, receivedAt, key: null, message: text ?? 'null' };
  return {
    ...presentPending(tenantId, record),
    id: event.id,
    externalTransactionId: event.externalTransactionId,
    message: messageOf(event).content,
    ratedTransactions: [],
  };
}

/** What a missing message means for the explanations of the charges. */
function explainedBy(charges: UsageEventDto['ratedTransactions']): string {
  if (charges.length === 0) return '';
  return charges.some(({ explanation }) => explanation === null)
    ? ' The formula of a pricing logic needs it: the charges have their rows, but not each step.'
    : ' The charges are explained by what they keep of it.';
}
