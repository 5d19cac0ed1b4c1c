import type { Static } from 'typebox';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { mapInPortions } from '../../kernel/portions.js';
import {
  placeOfUsageEvent,
  usageEventId,
  usageTopic,
  type PartitionOffset,
  type UsageLogReader,
  type UsageRecord,
} from '../../messages/usage-log.js';
import { UsageConsumer } from '../../models/usage/usage-consumer.js';
import { UsageDay } from '../../models/usage/usage-day.js';
import { eventMessageWeightSql } from '../../models/usage/event-message.js';
import { findListedPage, listedIds, type ListKey } from '../../models/usage/finding/usage-list.js';
import { UsageCorrection } from '../../models/usage/corrections/usage-correction.js';
import { UsageEvent } from '../../models/usage/usage-event.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type * as schema from '../../schemas/usage/usage-event.js';
import { readHeavyPage, type RowWeight } from '../lists/listing.js';
import { readInstantOf } from '../lists/time-range.js';
import type { Filled } from '../lists/page-bytes.js';
import {
  daysOfTimes,
  daysTouched,
  filterUsageEvents,
  type UsageEventFilter,
} from './usage-event-filter.js';
import { eventKnownOn } from './corrections/event-known-on.js';
import { explainCharges } from './usage-explanation.js';
import { findGoneMessages, messageOf } from './gone-message.js';
import { readMessage, type ReadMessage } from './usage-message.js';

export type UsageEventDto = Static<typeof schema.UsageEvent>;
type UsageEventSummaryDto = Static<typeof schema.UsageEventSummary>;
type Status = UsageEventSummaryDto['status'];

type LoggedRecord = UsageRecord & { readonly partition: number };

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

function presentPending(tenantId: string, record: LoggedRecord): UsageEventSummaryDto {
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
async function findPendingFrom(
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

async function findPendingByExternalId(
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

async function listPending(
  scope: Scope,
  log: UsageLogReader,
  filter: UsageEventFilter,
  page: PageRequest,
): Promise<Listed<UsageEventSummaryDto>> {
  const { externalTransactionId, ...others } = filter;
  // Account, service and validity of an event are determined by rating only.
  if (Object.values(others).some((value) => value !== undefined)) return { items: [], total: 0 };
  const { from, count } = await findPendingFrom(scope, log);
  const present = (record: LoggedRecord) => presentPending(scope.tenantId, record);
  if (externalTransactionId !== undefined) {
    const found = await findPendingByExternalId(scope, log, from, externalTransactionId);
    const items = found.slice(page.offset, page.offset + page.limit).map(present);
    return { items, total: found.length };
  }
  if (page.offset >= count) return { items: [], total: count };
  const { records, isCut } = await log.readNewest(scope.tenantId, from, page);
  return { items: await mapInPortions(records, present), total: count, isCut };
}

type StoredStatus = Exclude<Status, 'pending'>;
const storedStatuses: readonly StoredStatus[] = ['rated', 'rejected', 'duplicate', 'canceled'];

/**
 * The list that has the events of a filter (docs/decisions/0343); events that are not rated have
 * indexes of their own.
 */
function listKeyOf(
  status: StoredStatus | undefined,
  { accountId, serviceId, code }: UsageEventFilter,
): ListKey | undefined {
  const isAmongOpen = code !== undefined || (status !== undefined && status !== 'rated');
  if (isAmongOpen) return undefined;
  if (accountId !== undefined) return { kind: 'account', key: accountId };
  return serviceId === undefined ? undefined : { kind: 'service', key: serviceId };
}

function chooseStored(
  { tenantId, db }: Scope,
  status: StoredStatus | undefined,
  filter: UsageEventFilter,
) {
  const query = UsageEvent.query(db.read).forTenant(tenantId);
  if (status !== undefined) void query.where({ status });
  const key = listKeyOf(status, filter);
  if (key) {
    const listed = listedIds(tenantId, key);
    void query.whereRaw(`usage_event.id in (${listed.sql})`, [...listed.bindings]);
  }
  return filterUsageEvents(query, tenantId, filter);
}

/**
 * Counts by time alone: whole days from their tallies, partial days at both ends by counting rows.
 */
async function countTimes(
  scope: Scope,
  status: StoredStatus | undefined,
  { days, rests }: NonNullable<ReturnType<typeof daysOfTimes>>,
): Promise<number> {
  const kinds = status === undefined ? storedStatuses : [status];
  const [whole, ...parts] = await Promise.all([
    UsageDay.total(scope.db.read, scope.tenantId, kinds, days),
    ...rests.map((rest) => chooseStored(scope, status, rest).resultSize()),
  ]);
  return parts.reduce((sum, part) => sum + part, whole);
}

async function countStored(
  scope: Scope,
  status: StoredStatus | undefined,
  filter: UsageEventFilter,
): Promise<number> {
  const { tenantId, db } = scope;
  const given = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : name,
  );
  const isByTimes = given.length > 0 && given.every((name) => name === 'from' || name === 'to');
  const days = isByTimes ? daysOfTimes(filter) : undefined;
  if (days) return countTimes(scope, status, days);
  if (given.length > 0) return chooseStored(scope, status, filter).resultSize();
  // Without a filter the count is taken from the tallies: a tenant may have millions of events.
  const tallies = await UsageConsumer.query(db.read).forTenant(tenantId);
  const countOf = (tally: UsageConsumer): number =>
    status === undefined ? Number(tally.nextOffset) - Number(tally.skipped) : Number(tally[status]);
  return tallies.reduce((total, tally) => total + countOf(tally), 0);
}

/** A row of the list shows data of the message, so messages are read whole. */
const eventWeight: RowWeight<UsageEvent> = {
  sql: eventMessageWeightSql('usage_event'),
  bytesOf: ({ text }) => text?.length ?? 0,
};

/**
 * A page of stored events, newest first. A filter by time is narrowed to the id range of its days.
 */
async function readStored(
  scope: Scope,
  status: StoredStatus | undefined,
  filter: UsageEventFilter,
  page: PageRequest,
): Promise<Filled<UsageEvent>> {
  const { from, to } = filter;
  const query = UsageEvent.withText(chooseStored(scope, status, filter)).orderBy('id', 'desc');
  if (from !== undefined || to !== undefined) {
    const kinds = status === undefined ? storedStatuses : [status];
    const days = daysTouched({ from, to });
    const ids = await UsageDay.idRange(scope.db.read, scope.tenantId, kinds, days);
    if (ids) void query.where('id', '>=', ids.first).where('id', '<=', ids.last);
  }
  return readHeavyPage(query, page, eventWeight);
}

/** The events of an account or of a service, where nothing else is asked for. */
async function listOfKey(
  { tenantId, db }: Scope,
  status: StoredStatus | undefined,
  filter: UsageEventFilter,
  page: PageRequest,
): Promise<Listed<UsageEventSummaryDto> | undefined> {
  const key = listKeyOf(status, filter);
  if (!key || Object.values(filter).filter((value) => value !== undefined).length > 1) {
    return undefined;
  }
  const isRatedOnly = status === 'rated';
  const found = await findListedPage(db.read, tenantId, { ...key, isRatedOnly }, page);
  if (!found) return undefined;
  const query = UsageEvent.withText(UsageEvent.query(db.read).forTenant(tenantId))
    .whereRaw('usage_event.id = any(?::uuid[])', [[...found.ids]])
    .orderBy('id', 'desc');
  const { rows, isCut } = await readHeavyPage(query, { ...page, offset: 0 }, eventWeight);
  const items = await mapInPortions(rows, (event) => presentUsageSummary(event));
  return { items, total: found.total, isCut };
}

/** Lists events, newest first; pending ones come before stored ones. */
export async function listUsageEvents(
  scope: Scope,
  log: UsageLogReader,
  { status, ...filter }: UsageEventFilter & { readonly status?: Status },
  { limit, offset }: PageRequest,
): Promise<Listed<UsageEventSummaryDto>> {
  const withPending = status === undefined || status === 'pending';
  const pending = withPending
    ? await listPending(scope, log, filter, { limit, offset })
    : { items: [], total: 0 };
  if (status === 'pending') return pending;
  const listed = await listOfKey(scope, status, filter, { limit, offset });
  if (listed) return listed;
  const total = pending.total + (await countStored(scope, status, filter));
  const missing = limit - pending.items.length;
  const isWhole = missing === 0 || offset + pending.items.length >= total;
  if (isWhole || pending.isCut === true) return { ...pending, total };
  const { rows, isCut } = await readStored(scope, status, filter, {
    limit: missing,
    offset: Math.max(offset - pending.total, 0),
  });
  await findGoneMessages(scope.db.read, scope.tenantId, rows);
  const stored = await mapInPortions(rows, (event) => presentUsageSummary(event));
  return { items: [...pending.items, ...stored], total, isCut };
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

/**
 * One event with its charges explained (spec/rating.md R64, R65), as it is or as it was known at an
 * instant. 404 when there is none, or was none then.
 */
export async function getUsageEvent(
  scope: Scope,
  log: UsageLogReader,
  key: string,
  known?: string,
): Promise<UsageEventDto> {
  const knownOn = readInstantOf(known);
  if (knownOn) await UsageCorrection.awaitPublished(scope.db.read, scope.tenantId);
  const stored = await findUsageEvent(scope, key);
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
