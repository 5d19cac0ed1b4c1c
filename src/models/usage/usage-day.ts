import type { Knex } from 'knex';
import { TenantModel, type TenantQueryBuilder } from '../db/tenant-model.js';
import type { UsageStatus } from './usage-event.js';

/** What is counted by day: rated transactions, and usage events of a status. */
type DayKind = 'transaction' | UsageStatus;

/** Days in UTC from the first to the last; both may be open. */
interface DayRange {
  readonly from?: string | undefined;
  readonly last?: string | undefined;
}

/** How many charges of one partition a day has got, and between which ids they lie. */
export interface DayTally {
  readonly day: string;
  readonly total: number;
  readonly firstId: string;
  readonly lastId: string;
}

/** Tallies by day, kept by triggers in the writing transaction (docs/decisions/0077). */
export class UsageDay extends TenantModel {
  static override tableName = 'usage_day';
  static override idColumn = ['tenantId', 'kind', 'day', 'shard'];

  declare kind: DayKind;
  declare day: string;
  /** A `bigint`, so text. */
  declare total: string;

  static async total(
    db: Knex,
    tenantId: string,
    kinds: readonly DayKind[],
    range: DayRange,
  ): Promise<number> {
    const [row] = (await UsageDay.#of(db, tenantId, kinds, range).sum(
      'total as total',
    )) as unknown as { total: string | null }[];
    return Number(row?.total ?? 0);
  }

  /** Between which ids all events of these days lie; undefined when there are none. */
  static async idRange(
    db: Knex,
    tenantId: string,
    kinds: readonly DayKind[],
    range: DayRange,
  ): Promise<{ first: string; last: string } | undefined> {
    const [row] = (await UsageDay.#of(db, tenantId, kinds, range)
      .min(UsageDay.raw('first_id::text'))
      .max(UsageDay.raw('last_id::text'))) as unknown as {
      min: string | null;
      max: string | null;
    }[];
    return row?.min && row.max ? { first: row.min, last: row.max } : undefined;
  }

  /**
   * Adds charges that a correction has written: it counts them at its end, so that rating does not
   * wait for it (docs/decisions/0385).
   */
  static async addCharges(
    trx: Knex.Transaction,
    tenantId: string,
    tallies: readonly DayTally[],
  ): Promise<void> {
    if (tallies.length === 0) return;
    await trx.raw(
      `insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
       select ?, 'transaction', day, usage_shard(first_id), total, first_id, last_id
       from unnest(?::date[], ?::bigint[], ?::uuid[], ?::uuid[])
         as tally (day, total, first_id, last_id)
       order by day, usage_shard(first_id)
       on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
         first_id = least(known.first_id, excluded.first_id),
         last_id = greatest(known.last_id, excluded.last_id)`,
      [
        tenantId,
        tallies.map(({ day }) => day),
        tallies.map(({ total }) => total),
        tallies.map(({ firstId }) => firstId),
        tallies.map(({ lastId }) => lastId),
      ],
    );
  }

  static #of(
    db: Knex,
    tenantId: string,
    kinds: readonly DayKind[],
    { from, last }: DayRange,
  ): TenantQueryBuilder<UsageDay> {
    const query = UsageDay.query(db)
      .forTenant(tenantId)
      .whereIn('kind', [...kinds]);
    if (from !== undefined) void query.where('day', '>=', from);
    if (last !== undefined) void query.where('day', '<=', last);
    return query;
  }
}
