import type { Knex } from 'knex';
import { Decimal, decimalText } from '../../../kernel/numbers/money.js';
import { inPortions, Portions } from '../../../kernel/portions.js';
import type { Scope } from '../../../kernel/scope.js';
import {
  differencesMax,
  type AuditPlace,
  type CounterAudit,
  type UsageAuditInput,
  type UsageAuditPage,
  type UsageDifference,
} from '../../../messages/usage/usage-audit.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { pricedRowsSql } from '../../../models/usage/priced-row.js';
import * as rating from '../../../rating/index.js';
import { isChargeOf, recomputeWith } from '../usage-explanation.js';
import {
  readRecordedEvents,
  type RecordedEvent,
  RecordedReader,
  type RecordedFacts,
} from '../corrections/recorded-event.js';
import { auditFigures } from '../../balances/alert-audit.js';
import { auditPeriods } from '../../billing/adjustments/period-audit.js';
import { auditJournal } from '../../billing/journal/journal-audit.js';
import { auditLists } from './usage-list-audit.js';
import { auditTotals } from '../totals/usage-total-audit.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** A page of charges to audit, by keyset paging. */
export interface AuditPageRequest {
  readonly input: UsageAuditInput;
  readonly after: AuditPlace | null;
  readonly limit: number;
}

/**
 * Recomputes the charges of a page, each event from the inputs recorded at rating
 * (`recomputeWith`), and returns the differences. An event belongs to the page of its first charge.
 * Messages are read by weight: as many at once as may be held (docs/decisions/0442).
 */
export async function auditCharges(
  { db, tenantId }: Scope,
  { input, after, limit }: AuditPageRequest,
): Promise<UsageAuditPage> {
  const page = await readPage(db.read, tenantId, { input, after, limit });
  const last = page.at(-1);
  const next = last && page.length === limit ? { date: last.date, id: last.id } : null;
  const onPage = new Set(page.map(({ id }) => id));
  const eventIds = [...new Set(page.map(({ eventId }) => eventId))];
  const events = await readRecordedEvents(db.read, tenantId, eventIds);
  const own = events.filter(({ charges: [first] }) => first && onPage.has(first.id));
  const reader = new RecordedReader(db.read, tenantId);
  const lost = await chargesWithoutEvent(db.read, tenantId, eventIds, events);
  const lostHere = lost.filter(([first]) => first && onPage.has(first.id));
  const differences = lostHere.flatMap((charges) => compareEvent(undefined, charges));
  const portions = new Portions();
  let facts: ReadonlyMap<string, RecordedFacts> = new Map();
  let unchecked = 0;
  for (const [index, event] of own.entries()) {
    if (!facts.has(event.id)) ({ facts } = await reader.read(own.slice(index)));
    const known = facts.get(event.id);
    if (known) await inPortions(rating.compileInPieces(known.plan));
    if (known && isUnchecked(known)) unchecked += 1;
    else differences.push(...compareEvent(known, event.charges));
    if (portions.isOver) await portions.rest();
  }
  return {
    next,
    events: own.length + lostHere.length,
    unchecked,
    differences,
    charges: [...own.map(({ charges }) => charges), ...lostHere].flat().length,
  };
}

/** The standing charges of each event that is not in the books. */
async function chargesWithoutEvent(
  db: Knex,
  tenantId: string,
  eventIds: readonly string[],
  events: readonly RecordedEvent[],
): Promise<RatedTransaction[][]> {
  const known = new Set(events.map(({ id }) => id));
  const missing = eventIds.filter((id) => !known.has(id));
  return [...(await RatedTransaction.ofEvents(db, tenantId, missing)).values()];
}

interface PageRow {
  readonly id: string;
  readonly eventId: string;
  readonly date: string;
}

async function readPage(
  db: Knex,
  tenantId: string,
  { input, after, limit }: AuditPageRequest,
): Promise<PageRow[]> {
  const { periodStart, periodEnd, samplePercent } = input;
  const rows = await sqlRows<PageRow>(
    db,
    `select id, usage_event_id as "eventId", transaction_date::text as "date"
     from rated_transaction
     where tenant_id = :tenantId
       and transaction_date >= :periodStart::date and transaction_date <= :periodEnd::date
       and (:afterDate::date is null or (transaction_date, id) > (:afterDate::date, :afterId::uuid))
       -- All charges of an event are in the sample, or none.
       and mod(abs(hashtextextended(usage_event_id::text, 0)::numeric), 100) < :samplePercent
     order by transaction_date, id limit :limit`,
    {
      tenantId,
      periodStart,
      periodEnd,
      samplePercent,
      limit,
      // Without a type name, which knex would take for a binding in a cast.
      afterDate: after?.date ?? null,
      afterId: after?.id ?? null,
    },
  );
  return rows;
}

/**
 * Whether an event cannot be computed again because its message is gone: formulas may have used more
 * of it than its charges keep.
 */
const isUnchecked = ({ plan, isFromMessage }: RecordedFacts): boolean =>
  !isFromMessage && plan.logics.length > 0;

function compareEvent(
  facts: RecordedFacts | undefined,
  stored: readonly RatedTransaction[],
): UsageDifference[] {
  const [first] = stored;
  const again = facts?.event ? recomputeWith(facts.plan, facts.event, stored, facts.line) : null;
  if (!again) {
    return stored.map((charge) => differenceOf(charge, 'recorded inputs', null, null));
  }
  const missing = new Set(again.transactions);
  const differences = stored.flatMap((charge) => {
    const computed = again.transactions.find(
      isChargeOf(charge.accountId, charge.usageType, charge.shareOf !== null),
    );
    if (!computed) return [differenceOf(charge, 'amount', charge.amount, null)];
    missing.delete(computed);
    return compareCharge(charge, computed);
  });
  for (const { amount, billedAccountId } of missing) {
    differences.push({
      kind: 'charge',
      field: 'amount',
      recorded: null,
      computed: decimalText(amount),
      ratedTransactionId: null,
      externalTransactionId: first?.externalTranId ?? null,
      ownerId: billedAccountId,
      counterId: null,
    });
  }
  return differences;
}

const differenceOf = (
  { id, externalTranId, accountId }: RatedTransaction,
  field: string,
  recorded: string | null,
  computed: string | null,
): UsageDifference => ({
  kind: 'charge',
  field,
  recorded,
  computed,
  ratedTransactionId: id,
  externalTransactionId: externalTranId,
  ownerId: accountId,
  counterId: null,
});

/** Compares a stored charge and its dimensions with the recomputed ones. */
function compareCharge(
  stored: RatedTransaction,
  computed: rating.RatedTransaction,
): UsageDifference[] {
  const differences: UsageDifference[] = [];
  const compare = (field: string, recorded: string | undefined, value: Decimal | undefined) => {
    const isSame = recorded !== undefined && value?.equals(recorded) === true;
    if (isSame) return;
    const before = recorded === undefined ? null : decimalText(new Decimal(recorded));
    differences.push(differenceOf(stored, field, before, value ? decimalText(value) : null));
  };
  compare('amount', stored.amount, computed.amount);
  compare('quantity', stored.quantity, computed.quantity);
  if (stored.currency !== computed.currency) {
    differences.push(differenceOf(stored, 'currency', stored.currency, computed.currency));
  }
  const before = stored.dimensions;
  const count = Math.max(before.length, computed.dimensions.length);
  for (let index = 0; index < count; index += 1) {
    const [old, now] = [before[index], computed.dimensions[index]];
    const name = old?.dimensionName ?? now?.attributeName ?? '';
    compare(`amount of ${name}`, old?.calcAmount, now?.calcAmount);
    compare(`volume of ${name}`, old?.volume, now?.volume);
  }
  return differences;
}

/**
 * Counters that a period touches, against the sum of the rated usage. An event moves a counter
 * once, up to the end of its last price (docs/decisions/0012). What UNIQUE counters have counted must be
 * the values of the usage that moved them. One statement, so that all is of the same snapshot.
 */
const countersSql = `
  with checked as (
    select * from usage_counter
    where tenant_id = :tenantId and (
      period_start is null or (period_start <= :periodEnd::date and period_end >= :periodStart::date)
    )
  ), reversed as materialized (
    select before_id as id from usage_correction_charge
    where tenant_id = :tenantId and before_id is not null
  ), moved as (
    select d.counter_id, case
        when max(coalesce(d.shared_volume, d.volume)) >= -min(coalesce(d.shared_volume, d.volume))
        then max(coalesce(d.shared_volume, d.volume))
        else min(coalesce(d.shared_volume, d.volume)) end as volume,
      max(d.counted_value::text)::uuid as value_id
    from rated_transaction as t ${pricedRowsSql('join')}
    where t.tenant_id = :tenantId and d.counter_id is not null and t.reverses is null
      and not exists (select from reversed where reversed.id = t.id)
      and t.transaction_date >= (
        select case when bool_or(period_start is null) then '-infinity'::date
          else least(min(period_start), :periodStart::date) end
        from checked
      )
    group by d.counter_id, t.usage_event_id
  ), rated as (
    select counter_id, sum(volume) as volume from moved group by counter_id
  ), valued as (
    select distinct moved.counter_id, moved.value_id from moved join checked
      on checked.id = moved.counter_id
    where moved.value_id is not null and moved.volume <> 0
  ), known as (
    select known.counter_id, known.value_id from usage_counter_value as known join checked
      on checked.id = known.counter_id where known.tenant_id = :tenantId
  ), odd as (
    select coalesce(valued.counter_id, known.counter_id) as id, count(known.value_id) as recorded,
      count(valued.value_id) as computed
    from valued full join known
      on known.counter_id = valued.counter_id and known.value_id = valued.value_id
    group by 1 having count(known.value_id) < count(*) or count(valued.value_id) < count(*)
  ), compared as (
    select odd.id, checked.owner_id, checked.attribute_name, 'values' as field,
      odd.recorded::numeric, odd.computed::numeric
    from odd join checked on checked.id = odd.id
    union all
    select coalesce(checked.id, rated.counter_id) as id, checked.owner_id, checked.attribute_name,
      'value', checked.value as recorded, rated.volume as computed
    from checked full join rated on rated.counter_id = checked.id
    where checked.id is not null or not exists (
      select from usage_counter as known
      where known.tenant_id = :tenantId and known.id = rated.counter_id
    )
  )
  select (select count(*) from checked)::integer as "counters", count(*) over ()::integer as "count",
    id as "counterId", owner_id as "ownerId", attribute_name as "attributeName", field,
    recorded::text, computed::text
  from (select null) as always left join compared
    on coalesce(recorded, 0) <> coalesce(computed, 0) or recorded is null or field = 'values'
  order by id limit ${differencesMax}`;

interface CounterRow {
  readonly counters: number;
  readonly count: number;
  readonly counterId: string | null;
  readonly ownerId: string | null;
  readonly attributeName: string | null;
  readonly field: 'value' | 'values' | null;
  readonly recorded: string | null;
  readonly computed: string | null;
}

const exact = (text: string | null): string | null =>
  text === null ? null : decimalText(new Decimal(text));

/**
 * Compares counters, totals and lists of a period with the rated usage, whatever the sample, what
 * adjustments made of periods with what it comes to, the journal with the books, and the figures of
 * alerts with what they count.
 */
export async function auditSums(scope: Scope, input: UsageAuditInput): Promise<CounterAudit> {
  const counters = await auditCounters(scope, input);
  const totals = await auditTotals(scope, input);
  const lists = await auditLists(scope, input);
  const periods = await auditPeriods(scope, input);
  const journal = await auditJournal(scope);
  const figures = await auditFigures(scope);
  const others = [totals, lists, periods, journal, figures];
  return {
    counters: counters.counters,
    differenceCount: others.reduce((sum, { count }) => sum + count, counters.differenceCount),
    differences: [counters, ...others]
      .flatMap(({ differences }) => differences)
      .slice(0, differencesMax),
  };
}

async function auditCounters(
  { db, tenantId }: Scope,
  { periodStart, periodEnd }: UsageAuditInput,
): Promise<CounterAudit> {
  const rows = await sqlRows<CounterRow>(db.read, countersSql, {
    tenantId,
    periodStart,
    periodEnd,
  });
  const differences = rows.flatMap((row): UsageDifference[] =>
    row.counterId === null
      ? []
      : [
          {
            kind: 'counter',
            field: `${row.field ?? 'value'} of ${row.attributeName ?? 'no counter'}`,
            recorded: exact(row.recorded),
            computed: exact(row.computed),
            ratedTransactionId: null,
            externalTransactionId: null,
            ownerId: row.ownerId ?? '',
            counterId: row.counterId,
          },
        ],
  );
  const differenceCount = differences.length === 0 ? 0 : (rows[0]?.count ?? 0);
  return { counters: rows[0]?.counters ?? 0, differenceCount, differences };
}
