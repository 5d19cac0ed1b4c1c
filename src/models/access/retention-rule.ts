import type { Knex } from 'knex';
import {
  everyTenant,
  retentionByDefault,
  retentionKinds,
  type RetentionKind,
} from '../../kernel/retention.js';
import { sqlRows } from '../db/sql-rows.js';

/** How long one kind is kept, where that is set, and what was removed of it. */
export interface RetentionRule {
  readonly kind: RetentionKind;
  /** Null: for ever. */
  readonly days: number | null;
  readonly setBy: 'tenant' | 'installation' | 'product';
  /** Rows, as decimal text. */
  readonly removed: string;
  /** What is older was removed, unless it is needed still; null: nothing was. */
  readonly removedBefore: Date | null;
}

/** A kind of a tenant of which something may have become too old. */
export interface DueRetention {
  readonly tenantId: string;
  readonly kind: RetentionKind;
  readonly days: number;
}

const kindsSql = retentionKinds
  .map((kind) => `('${kind}', ${retentionByDefault[kind] ?? 'null'}::integer)`)
  .join(', ');

/** Kinds with the rule in force for the tenant of an expression. */
const rulesSql = (tenant: string): string => `
  (values ${kindsSql}) as known (kind, days)
  left join retention_rule as own on own.tenant_id = ${tenant} and own.kind = known.kind
  left join retention_rule as general on general.tenant_id = '${everyTenant}'
    and general.kind = known.kind
  left join retention_state as state on state.tenant_id = ${tenant} and state.kind = known.kind`;

/** A rule that says "for ever" has null days, so its presence decides. */
const daysSql = `case when own.kind is not null then own.days
  when general.kind is not null then general.days else known.days end`;

/** The rules in force for a tenant, or (`*`) the installation's. */
export async function readRetention(db: Knex, tenantId: string): Promise<RetentionRule[]> {
  const rows = await sqlRows<RetentionRule>(
    db,
    `select known.kind, ${daysSql} as "days", case
         when own.kind is not null and own.tenant_id <> '${everyTenant}' then 'tenant'
         when general.kind is not null then 'installation' else 'product' end as "setBy",
       coalesce(state.removed, 0) as "removed", state.removed_before as "removedBefore"
     from ${rulesSql(':tenantId')}`,
    { tenantId },
  );
  return rows;
}

/** Sets how long a kind is kept; undefined takes the tenant's own rule away. */
export async function setRetention(
  trx: Knex,
  tenantId: string,
  kind: RetentionKind,
  days: number | null | undefined,
): Promise<void> {
  if (days === undefined) {
    await trx('retentionRule').where({ tenantId, kind }).delete();
    return;
  }
  await trx('retentionRule')
    .insert({ tenantId, kind, days, updatedAt: new Date() })
    .onConflict(['tenant_id', 'kind'])
    .merge();
}

/**
 * The kinds of all tenants of a cell that were not looked through up to their horizon (`retentionHorizon`), but
 * for those under a legal hold; as the platform sees them.
 */
export async function listDueRetention(platform: Knex, now: Date): Promise<DueRetention[]> {
  const rows = await sqlRows<DueRetention>(
    platform,
    `select tenant.id as "tenantId", rule.kind, rule.days from tenant cross join lateral (
       select known.kind, ${daysSql} as days, state.removed_before from ${rulesSql('tenant.id')}
     ) as rule
     where rule.days is not null
       and not exists (select from legal_hold where legal_hold.tenant_id = tenant.id)
       and (removed_before is null or
         removed_before < date_trunc('day', ?::timestamptz, 'UTC') - rule.days * interval '1 day')
     order by tenant.id`,
    [now],
  );
  return rows;
}

/** Makes the defaults of the installation in a cell what they are in the home database. */
export async function mirrorRetentionDefaults(home: Knex, cell: Knex): Promise<void> {
  const rules = await home('retentionRule').where({ tenantId: everyTenant }).select('kind', 'days');
  await cell.raw('select mirror_retention_defaults(?::jsonb)', [JSON.stringify(rules)]);
}

/** Counts removed rows; with `upTo`, everything older was looked through. */
export async function recordRemoved(
  trx: Knex,
  tenantId: string,
  kind: RetentionKind,
  { removed, upTo }: { readonly removed: number; readonly upTo: Date | null },
): Promise<void> {
  await trx.raw(
    `insert into retention_state as known (tenant_id, kind, removed, removed_before)
     values (?, ?, ?, ?)
     on conflict (tenant_id, kind) do update set removed = known.removed + excluded.removed,
       removed_before = coalesce(excluded.removed_before, known.removed_before)`,
    [tenantId, kind, removed, upTo] as Knex.Value[],
  );
}
