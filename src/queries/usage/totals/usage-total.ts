import type { Static } from 'typebox';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { awaitKnown } from '../../../models/usage/corrections/known-instant.js';
import { sqlRows, type SqlValue } from '../../../models/db/sql-rows.js';
import {
  listDroppedMonths,
  monthsOfTimes,
  refuseArchived,
} from '../../../models/usage/finding/dropped-month.js';
import type { Listed } from '../../../schemas/http/operation.js';
import {
  dimensionPrefix,
  minuteHoursMax,
  usageGroups,
  usageGroupsMax,
  type UsageBucket,
  type UsageGroup,
  type UsageTotal,
} from '../../../schemas/usage/usage-total.js';
import { readHalfOpenRange, readInstantOf, type TimeRange } from '../../lists/time-range.js';
import { divideRange, type SourceRange } from './usage-total-ranges.js';
import { usageTotalsSql, type AskedTotals, type TotalKey } from './usage-total-sql.js';

type UsageTotalDto = Static<typeof UsageTotal>;

/** What totals are asked for; dimensions are among the filters as `dimension:<name>`. */
export interface UsageTotalRequest {
  readonly from?: string;
  readonly to?: string;
  readonly bucket: UsageBucket;
  readonly groupBy?: string;
  readonly knownOn?: string;
  readonly limit: number;
  readonly offset: number;
  readonly [filter: string]: string | number | undefined;
}

interface TotalRow {
  readonly isBeingMade: boolean;
  /** Events whose dimensions are asked for, and whose message is gone. */
  readonly withoutMessage: number;
  readonly total: number;
  readonly bucket: Date | null;
  readonly currency: string | null;
  readonly events: string;
  readonly quantity: string;
  readonly amount: string;
  /** Of each name of `groupBy`. */
  readonly [key: `key${number}`]: string | null;
}

/**
 * Sums of rated usage (spec/beyond.md R22), exact at the snapshot of the statement: stored totals,
 * pending deltas, and for partial hours and dimensions the rated transactions. 400: an unknown or
 * repeated name in groupBy, more than three, from after to, dimensions of messages that retention has
 * removed; by minute, a range without ends or longer than six hours. 409: rated transactions that are in the archive alone would have to be read.
 */
export async function listUsageTotals(
  scope: Scope,
  request: UsageTotalRequest,
): Promise<Listed<UsageTotalDto>> {
  const { from, to, bucket, groupBy, limit, offset } = request;
  const range = readHalfOpenRange({ from, to });
  if (bucket === 'minute') requireFewMinutes(range);
  const names = readGroupBy(groupBy);
  const groups = names.map(keyOf);
  const filters = readFilters(request);
  const used = [...groups, ...filters.map(([key]) => key)];
  const knownOn = readInstantOf(request.knownOn);
  if (knownOn) await awaitKnown(scope.db.read, scope.tenantId);
  const { embeddedAccountId } = scope;
  const asked = { bucket, groups, filters, limit, offset, knownOn, embeddedAccountId };
  const isOfDimension = used.some((key) => 'dimension' in key);
  const isFine = used.some((key) => 'name' in key && ['account', 'contract'].includes(key.name));
  const isByHour = bucket === 'hour';
  // By account, totals are stored by day only: more than one event in an hour is rare.
  const kept = isFine ? (isByHour ? 'facts' : 'day') : isByHour ? 'coarse hour' : 'coarse day';
  // Totals are of what is known now.
  const best = isOfDimension || knownOn || bucket === 'minute' ? 'facts' : kept;
  let rows = await readTotals(scope, asked, divideRange(range, best));
  // During a rebuild the rated transactions are summed, which is slower.
  if (best !== 'facts' && rows[0]?.isBeingMade === true) {
    rows = await readTotals(scope, asked, divideRange(range, 'facts'));
  }
  refuseGoneDimensions(rows[0]?.withoutMessage ?? 0);
  const found = rows.filter(({ currency }) => currency !== null);
  return { items: found.map((row) => presentTotal(row, names)), total: rows[0]?.total ?? 0 };
}

/** 400: by minute nothing is kept, so that each event of the range is read. */
function requireFewMinutes({ from, to }: TimeRange): void {
  const ms = from === undefined || to === undefined ? Infinity : Date.parse(to) - Date.parse(from);
  if (ms <= minuteHoursMax * 3_600_000) return;
  throw problem.validation(
    `'bucket' 'minute' needs 'from' and 'to' at most ${minuteHoursMax} hours apart`,
    { field: 'bucket', value: 'minute' },
  );
}

/** Counted under no value they would be told wrong. */
function refuseGoneDimensions(events: number): void {
  if (events === 0) return;
  throw problem.validation(
    `The dimensions of ${events} events in this range were in messages that retention has removed ` +
      '(GET /v1/retention): ask for a later range, or without dimensions.',
    { field: 'from' },
  );
}

async function readTotals(
  { db, tenantId }: Scope,
  asked: AskedTotals,
  ranges: readonly SourceRange[],
): Promise<TotalRow[]> {
  const facts = ranges.filter(({ source }) => source === 'facts');
  if (facts.length > 0) {
    const months = await listDroppedMonths(db.read, tenantId);
    for (const range of facts) refuseArchived(monthsOfTimes(months, range));
  }
  const { sql, bindings } = usageTotalsSql(asked, ranges);
  const all: Record<string, SqlValue> = { ...bindings, tenantId };
  return sqlRows<TotalRow>(db.read, sql, all);
}

function presentTotal(row: TotalRow, names: readonly string[]): UsageTotalDto {
  return {
    bucket: row.bucket?.toISOString() ?? null,
    group: Object.fromEntries(names.map((name, index) => [name, row[`key${index}`] ?? null])),
    currency: row.currency ?? '',
    events: Number(row.events),
    quantity: new Decimal(row.quantity),
    amount: new Decimal(row.amount),
  };
}

function readGroupBy(text: string | undefined): string[] {
  const names = text === undefined ? [] : text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !isGroup(name));
  if (unknown !== undefined) {
    throw problem.validation(
      `'groupBy' '${unknown.slice(0, 200)}' must be of: ${usageGroups.join(', ')}, ${dimensionPrefix}<name>; several with commas`,
      { field: 'groupBy', value: unknown.slice(0, 200) },
    );
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw problem.validation(`'groupBy' names '${repeated.slice(0, 200)}' twice`, {
      field: 'groupBy',
    });
  }
  if (names.length > usageGroupsMax) {
    throw problem.validation(
      `'groupBy' must have at most ${usageGroupsMax} names, not ${names.length}`,
      {
        field: 'groupBy',
      },
    );
  }
  return names;
}

const isGroup = (name: string): boolean =>
  (usageGroups as readonly string[]).includes(name) ||
  (name.startsWith(dimensionPrefix) && name.length > dimensionPrefix.length);

const keyOf = (name: string): TotalKey =>
  name.startsWith(dimensionPrefix)
    ? { dimension: name.slice(dimensionPrefix.length) }
    : { name: name as UsageGroup };

function readFilters(request: UsageTotalRequest): (readonly [TotalKey, string])[] {
  const filters = Object.entries(request).flatMap(([name, value]) =>
    isGroup(name) && value !== undefined ? [[keyOf(name), String(value)] as const] : [],
  );
  const dimensions = filters.filter(([key]) => 'dimension' in key).length;
  if (dimensions > usageGroupsMax) {
    throw problem.validation(
      `At most ${usageGroupsMax} filters may be of dimensions, not ${dimensions}`,
      {
        field: 'dimension',
      },
    );
  }
  return filters;
}
