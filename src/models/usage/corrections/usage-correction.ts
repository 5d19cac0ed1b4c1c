import type { Knex } from 'knex';
import { BulkTable } from '../../db/bulk-table.js';
import { sqlRows } from '../../db/sql-rows.js';
import { TenantModel } from '../../db/tenant-model.js';

export const correctionKinds = ['cancel', 'amend', 'rerate'] as const;
export type CorrectionKind = (typeof correctionKinds)[number];

/** A sum of charges; the amount is decimal text. */
export interface CurrencySum {
  readonly currency: string;
  readonly amount: string;
}

/** What the charges of an account came to, before and after. */
export interface AccountSum {
  readonly accountId: string;
  readonly currency: string;
  readonly before: string;
  readonly after: string;
}

/** How many events keep their charges because they can no longer be rated, for one reason. */
export interface KeptEvents {
  readonly code: string;
  readonly events: number;
}

export interface CorrectionRow {
  readonly id: string;
  readonly kind: CorrectionKind;
  readonly reason: string;
  readonly actor: string | null;
  readonly executionId: string;
  readonly eventId: string | null;
  readonly scope: Readonly<Record<string, unknown>>;
  readonly events: number;
  readonly changed: number;
  readonly rejected: readonly KeptEvents[];
  readonly before: readonly CurrencySum[];
  readonly after: readonly CurrencySum[];
  readonly accounts: readonly AccountSum[];
  /** When it became known, an instant. */
  readonly createdAt: string;
}

/** A charge that was reversed and the one in its place; one of them may be missing. */
export interface CorrectedPair {
  readonly position: number;
  readonly eventId: string;
  readonly beforeId: string | null;
  readonly afterId: string | null;
}

const pairs = new BulkTable<CorrectedPair & { readonly correctionId: string }>(
  'usage_correction_charge',
  {
    correctionId: 'uuid',
    position: 'integer',
    eventId: 'uuid',
    beforeId: 'uuid',
    afterId: 'uuid',
  },
);

/** A correction of rated usage: it has added charges, and changed none. */
export class UsageCorrection extends TenantModel {
  static override tableName = 'usage_correction';

  declare kind: CorrectionKind;
  declare reason: string;
  declare actor: string | null;
  declare executionId: string;
  declare eventId: string | null;
  declare scope: Readonly<Record<string, unknown>>;
  declare events: number;
  declare changed: number;
  declare rejected: KeptEvents[];
  declare before: CurrencySum[];
  declare after: CurrencySum[];
  declare accounts: AccountSum[];
  declare createdAt: Date;

  /** Lets no other correction of the tenant be written until the commit. */
  static async takeTurn(trx: Knex.Transaction, tenantId: string): Promise<void> {
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended(?, 0))`, [
      `usage-correction/${tenantId}`,
    ]);
  }

  static async write(
    trx: Knex.Transaction,
    tenantId: string,
    correction: CorrectionRow,
  ): Promise<void> {
    const { scope, rejected, before, after, accounts, ...row } = correction;
    const json = { scope, rejected, before, after, accounts };
    await trx('usageCorrection').insert({
      ...row,
      tenantId,
      ...Object.fromEntries(Object.entries(json).map(([name, of]) => [name, JSON.stringify(of)])),
    });
  }

  /** What was done and why, by the ids of corrections. */
  static async reasonsOf(
    db: Knex,
    tenantId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Pick<CorrectionRow, 'id' | 'kind' | 'reason'>>> {
    if (ids.length === 0) return new Map();
    const found = await sqlRows<Pick<CorrectionRow, 'id' | 'kind' | 'reason'>>(
      db,
      'select id, kind, reason from usage_correction where tenant_id = ? and id = any(?::uuid[])',
      [tenantId, [...new Set(ids)]],
    );
    return new Map(found.map((one) => [one.id, one]));
  }

  /** Says which charges came in the place of which. */
  static writePairs(
    trx: Knex.Transaction,
    tenantId: string,
    correctionId: string,
    corrected: readonly CorrectedPair[],
  ): Promise<void> {
    return pairs.insert(
      trx,
      tenantId,
      corrected.map((pair) => ({ ...pair, correctionId })),
    );
  }
}

/**
 * Reverses charges: each gets another one with the same facts and negated amounts and quantities.
 * `reversals` says the id of the new one for the id of each.
 */
export async function insertReversals(
  trx: Knex.Transaction,
  tenantId: string,
  correctionId: string,
  reversals: readonly { readonly id: string; readonly of: string }[],
): Promise<void> {
  if (reversals.length === 0) return;
  await sqlRows(trx, reverseSql, {
    tenantId,
    correctionId,
    ids: reversals.map(({ id }) => id),
    reversed: reversals.map(({ of }) => of),
  });
}

/** What several rows have as JSON, and what earlier versions wrote as rows of `rated_dimension`. */
const reverseSql = `
  insert into rated_transaction (tenant_id, id, usage_event_id, external_tran_id, transaction_date,
    account_id, master_account_id, service_id, service_instance_id, contract_id, contract_service_id,
    amount, discount, tax_amount, quantity, currency, usage_type, charge_type, plan_id, share_from,
    share_to, share_of, shared_amount, rate_card_row_id, rate, row_volume, row_amount, counter_id,
    counter_before, priced_rows, reverses, correction_id)
  select t.tenant_id, given.id, t.usage_event_id, t.external_tran_id, t.transaction_date,
    t.account_id, t.master_account_id, t.service_id, t.service_instance_id, t.contract_id,
    t.contract_service_id, -t.amount, -t.discount, -t.tax_amount, -t.quantity, t.currency,
    t.usage_type, t.charge_type, t.plan_id, t.share_from, t.share_to, t.share_of, -t.shared_amount,
    t.rate_card_row_id, t.rate, -t.row_volume, -t.row_amount, t.counter_id, t.counter_before,
    case when t.rate_card_row_id is null then coalesce(rows.negated, '[]') end,
    t.id, :correctionId::uuid
  from unnest(:ids::uuid[], :reversed::uuid[]) as given (id, reversed)
  join rated_transaction as t on t.tenant_id = :tenantId and t.id = given.reversed
  left join lateral (
    select jsonb_agg(jsonb_strip_nulls(each.row || jsonb_build_object(
      'volume', -(each.row ->> 'volume')::numeric, 'amount', -(each.row ->> 'amount')::numeric,
      'sharedVolume', -(each.row ->> 'sharedVolume')::numeric,
      'sharedAmount', -(each.row ->> 'sharedAmount')::numeric
    )) order by each.position) as negated
    from (
      select ordinality as position, row
      from jsonb_array_elements(t.priced_rows) with ordinality as own (row, ordinality)
      union all
      select position, jsonb_build_object('row', rate_card_row_id, 'volume', volume, 'rate', rate,
        'amount', calc_amount, 'counter', counter_id, 'before', counter_before,
        'sharedVolume', shared_volume, 'sharedAmount', shared_amount, 'dimension', dimension_id,
        'name', dimension_name, 'method', price_method_type)
      from rated_dimension
      where rated_dimension.tenant_id = t.tenant_id and rated_dimension.transaction_id = t.id
        and t.rate_card_row_id is null and t.priced_rows is null
    ) as each
  ) as rows on true`;
