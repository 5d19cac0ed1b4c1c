import type { Scope } from '../../../kernel/scope.js';
import { mapInPortions } from '../../../kernel/portions.js';
import type { UsageLogReader } from '../../../messages/usage-log.js';
import type { ArchiveFiles } from '../../../messages/ageing/usage-archive.js';
import { findOriginalIds } from '../../../models/usage/finding/usage-identity.js';
import { UsageConsumer } from '../../../models/usage/log-offset.js';
import { UsageDay } from '../../../models/usage/usage-day.js';
import { eventMessageWeightSql } from '../../../models/usage/event-message.js';
import {
  findListedPage,
  listedIds,
  type ListKey,
} from '../../../models/usage/finding/usage-list.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import { readHeavyPage, type RowWeight } from '../../lists/listing.js';
import type { Filled } from '../../lists/page-bytes.js';
import {
  daysOfTimes,
  daysTouched,
  filterUsageEvents,
  type UsageEventFilter,
} from './usage-event-filter.js';
import { answerFromArchive } from '../archive/answer-from-archive.js';
import { findArchivedOf, refuseArchivedPage } from '../archive/archived-pages.js';
import { findGoneMessages } from '../gone-message.js';
import {
  findPendingByExternalId,
  findPendingFrom,
  presentPending,
  presentUsageSummary,
  type LoggedRecord,
  type UsageEventSummaryDto,
  type UsageSources,
} from '../usage-event.js';

type Status = UsageEventSummaryDto['status'];

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

/** The events of these ids as a page. */
async function readListed(
  { tenantId, db }: Scope,
  ids: readonly string[],
  total: number,
  page: PageRequest,
): Promise<Listed<UsageEventSummaryDto>> {
  const query = UsageEvent.withText(UsageEvent.query(db.read).forTenant(tenantId))
    .whereRaw('usage_event.id = any(?::uuid[])', [[...ids]])
    .orderBy('id', 'desc');
  const { rows, isCut } = await readHeavyPage(query, { ...page, offset: 0 }, eventWeight);
  await findGoneMessages(db.read, tenantId, rows);
  const items = await mapInPortions(rows, (event) => presentUsageSummary(event));
  return { items, total, isCut };
}

/** The events of an account or of a service, where nothing else is asked for. */
async function listOfKey(
  scope: Scope,
  archive: ArchiveFiles | undefined,
  {
    status,
    filter,
  }: { readonly status: StoredStatus | undefined; readonly filter: UsageEventFilter },
  page: PageRequest,
): Promise<Listed<UsageEventSummaryDto> | undefined> {
  const { tenantId, db } = scope;
  const key = listKeyOf(status, filter);
  if (!key || Object.values(filter).filter((value) => value !== undefined).length > 1) {
    return undefined;
  }
  const isRatedOnly = status === 'rated';
  const found = await findListedPage(db.read, tenantId, { ...key, isRatedOnly }, page);
  if (!found) return undefined;
  const { ids, total } = found;
  const read = (inside: Scope) => readListed(inside, ids, total, page);
  return (await answerFromArchive(scope, archive, ids, read)) ?? read(scope);
}

type AskedEvents = UsageEventFilter & { readonly status?: Status };

/**
 * Lists events, newest first; pending ones come before stored ones. 409: the page reaches into what is in
 * the archive alone.
 */
export async function listUsageEvents(
  scope: Scope,
  sources: UsageSources,
  asked: AskedEvents,
  page: PageRequest,
): Promise<Listed<UsageEventSummaryDto>> {
  const read = (inside: Scope) => readEvents(inside, sources, asked, page);
  const { externalTransactionId } = asked;
  if (externalTransactionId === undefined) return read(scope);
  const { db, tenantId } = scope;
  const ids = await findOriginalIds(db.read, tenantId, [externalTransactionId]);
  return (await answerFromArchive(scope, sources.archive, ids, read)) ?? read(scope);
}

async function readEvents(
  scope: Scope,
  { broker: log, archive }: UsageSources,
  { status, ...filter }: AskedEvents,
  { limit, offset }: PageRequest,
): Promise<Listed<UsageEventSummaryDto>> {
  const withPending = status === undefined || status === 'pending';
  const pending = withPending
    ? await listPending(scope, log, filter, { limit, offset })
    : { items: [], total: 0 };
  if (status === 'pending') return pending;
  const listed = await listOfKey(scope, archive, { status, filter }, { limit, offset });
  if (listed) return listed;
  const archived = await findArchivedOf(scope, status, filter);
  const total = pending.total + (await countStored(scope, status, filter));
  const missing = limit - pending.items.length;
  const isWhole = missing === 0 || offset + pending.items.length >= total;
  if (isWhole || pending.isCut === true) return { ...pending, total };
  const { rows, isCut } = await readStored(scope, status, filter, {
    limit: missing,
    offset: Math.max(offset - pending.total, 0),
  });
  refuseArchivedPage(archived, rows, { isFull: isCut || rows.length === missing });
  await findGoneMessages(scope.db.read, scope.tenantId, rows);
  const stored = await mapInPortions(rows, (event) => presentUsageSummary(event));
  return { items: [...pending.items, ...stored], total, isCut };
}
