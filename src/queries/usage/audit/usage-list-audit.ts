import type { Scope } from '../../../kernel/scope.js';
import {
  differencesMax,
  type UsageAuditInput,
  type UsageDifference,
} from '../../../messages/usage/usage-audit.js';
import { listedPartsSql } from '../../../models/usage/finding/usage-list.js';
import { eventTimeSql } from '../../../models/usage/usage-fact.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/**
 * Compares the rated events of a period with those that are listed by account and by service: each
 * event is in one list of each kind, that of its own account or service. One statement, so that both
 * are of the same snapshot. Nothing is compared while the lists are made.
 *
 * An account with three events of which two are listed gives ('account', the account, 2, 3); an event
 * that is listed twice counts twice.
 */
const listsSql = `
  with fact as materialized (
    select id, account_id, service_id from usage_event
    where tenant_id = :tenantId and status = 'rated'
      and ${eventTimeSql} >= :periodStart::date::timestamp at time zone 'UTC'
      and ${eventTimeSql} < (:periodEnd::date + 1)::timestamp at time zone 'UTC'
  ),
  expected as (
    select kind, key, id from fact
    cross join lateral (values ('account', account_id), ('service', service_id)) as own (kind, key)
  ),
  recorded as (
    select kind, key, id, count(*) as times from (${listedPartsSql}) as listed
    where id in (select id from fact) group by 1, 2, 3
  ),
  compared as (
    select coalesce(recorded.kind, expected.kind) as kind, coalesce(recorded.key, expected.key) as key,
      sum(coalesce(recorded.times, 0)) as listed, count(expected.id) as events,
      bool_or(recorded.times is distinct from 1 or expected.id is null) as differs
    from expected full join recorded on recorded.kind = expected.kind
      and recorded.key = expected.key and recorded.id = expected.id
    group by 1, 2
  )
  select (count(*) over ())::integer as "count", kind, key as "ownerId", listed::text as "recorded",
    events::text as "computed"
  from compared
  where differs and not exists (
    select from fact_move where tenant_id = :tenantId and kind = 'lists' and done_at is null
  )
  order by kind, key limit ${differencesMax}`;

interface ListRow {
  readonly count: number;
  readonly kind: string;
  readonly ownerId: string;
  readonly recorded: string;
  readonly computed: string;
}

/** Compares the lists of a period's events with its facts, whatever the sample. */
export async function auditLists(
  { db, tenantId }: Scope,
  { periodStart, periodEnd }: UsageAuditInput,
): Promise<{ readonly count: number; readonly differences: UsageDifference[] }> {
  const rows = await sqlRows<ListRow>(db.read, listsSql, { tenantId, periodStart, periodEnd });
  const differences = rows.map(({ kind, ownerId, recorded, computed }): UsageDifference => ({
    kind: 'list',
    field: `listed events by ${kind}`,
    recorded,
    computed,
    ratedTransactionId: null,
    externalTransactionId: null,
    ownerId,
    counterId: null,
  }));
  return { count: rows[0]?.count ?? 0, differences };
}
