import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';
import { joinJson, jsonSeparatorSql } from '../../../kernel/text/postgres-array.js';
import { TenantModel } from '../../db/tenant-model.js';
import { addDifferences, type PeriodDifference } from './repricing-period.js';
import type { CurrencySum, KeptEvents } from '../corrections/usage-correction.js';

/** How what accounts pay would change, in percent as decimal text; null: none had paid anything. */
export interface ChangeSpread {
  readonly p5: string | null;
  readonly p50: string | null;
  readonly p95: string | null;
  readonly min: string | null;
  readonly max: string | null;
}

/** In how many percent ranges of changes end, from the lowest; no change is a range of its own. */
export const changeBounds = ['-50', '-25', '-10', '-5', '0', '0', '5', '10', '25', '50'] as const;

/** The spread as it is kept: with how many accounts are in each range; versions before had none. */
export interface KeptSpread extends ChangeSpread {
  readonly bins?: readonly number[];
}

/** Where a limit is not kept; decimals are text. */
export interface GuardViolation {
  readonly limit: 'accountChangeMax' | 'totalDecreaseMax';
  readonly max: string;
  readonly accountId: string | null;
  readonly currency: string;
  readonly before: string;
  readonly after: string;
  readonly change: string | null;
}

/** What came out; null of one that has not ended. */
export interface RepricingOutcome {
  readonly events: string | null;
  readonly accounts: string | null;
  readonly rejected: readonly KeptEvents[] | null;
  readonly before: readonly CurrencySum[] | null;
  readonly after: readonly CurrencySum[] | null;
  readonly change: KeptSpread | null;
  readonly isPassed: boolean | null;
  readonly violations: readonly GuardViolation[] | null;
}

/** What usage would cost with other prices: what was asked, and what came out. */
export class Repricing extends TenantModel implements RepricingOutcome {
  static override tableName = 'repricing';
  static override jsonAttributes = ['rejected', 'before', 'after', 'change', 'violations'];

  declare name: string;
  declare actor: string | null;
  declare fromAt: Date;
  declare toAt: Date;
  declare accountIds: string[] | null;
  declare serviceIds: string[] | null;
  /** JSON text. */
  declare changes: string;
  declare accountChangeMax: string | null;
  declare totalDecreaseMax: string | null;
  declare createdAt: Date;
  declare endedAt: Date | null;
  declare events: string | null;
  declare accounts: string | null;
  declare rejected: KeptEvents[] | null;
  declare before: CurrencySum[] | null;
  declare after: CurrencySum[] | null;
  declare change: KeptSpread | null;
  declare isPassed: boolean | null;
  declare violations: GuardViolation[] | null;
  declare promotedAt: Date | null;
  declare promotedFrom: string | null;
  declare promotedBy: string | null;
  declare isForced: boolean;
  declare removedAt: Date | null;

  /** Lets no other what-if of the tenant be promoted until the commit: each holds several services. */
  static async takeTurn(trx: Knex.Transaction, tenantId: string): Promise<void> {
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended(?, 0))`, [
      `promote-repricing/${tenantId}`,
    ]);
  }
}

/** What usage would cost: the state of the counters of an account that is not done yet. */
export interface CounterState {
  /** How far they stand from the books, as decimal text by their ids; those that do. */
  readonly moved: Readonly<Record<string, string>>;
  /** Where they stand. */
  readonly values: Readonly<Record<string, string>>;
  /** What UNIQUE ones that the books do not have would have counted; left out where there are none. */
  readonly counted?: Readonly<Record<string, readonly string[]>>;
}

/** How far a repricing is. */
export interface RepricingRun {
  readonly step: number;
  readonly isDone: boolean;
  readonly facts: unknown;
  readonly accountId: string | null;
  readonly eventId: string | null;
  readonly counters: CounterState | Record<string, never>;
  readonly events: number;
  readonly total: number;
}

export async function readRun(
  db: Knex,
  tenantId: string,
  repricingId: string,
): Promise<RepricingRun | undefined> {
  const [run] = await sqlRows<RepricingRun>(
    db,
    `select step, is_done as "isDone", facts, account_id as "accountId", event_id as "eventId",
       counters, events::integer, total::integer
     from repricing_run where tenant_id = ? and repricing_id = ?`,
    [tenantId, repricingId],
  );
  return run;
}

export async function insertRun(
  trx: Knex.Transaction,
  tenantId: string,
  run: { readonly repricingId: string; readonly facts: object; readonly total: number },
): Promise<void> {
  const { repricingId, facts, total } = run;
  await trx.raw(
    `insert into repricing_run (tenant_id, repricing_id, facts, total) values (?, ?, ?, ?)`,
    [tenantId, repricingId, JSON.stringify(facts), total],
  );
}

/** Sums of an account; decimals are text. */
export interface RepricedSum {
  readonly accountId: string;
  readonly currency: string;
  readonly before: string;
  readonly after: string;
  readonly charges: number;
}

/** Charges of an account, packed as text. */
export interface PackedCharges {
  readonly accountId: string;
  readonly count: number;
  readonly charges: string;
}

/** A portion of a repricing: what is written at once. */
export interface RepricedPortion {
  readonly repricingId: string;
  /** The number that the portion has. */
  readonly step: number;
  readonly isDone: boolean;
  readonly accountId: string | null;
  readonly eventId: string | null;
  readonly counters: CounterState | Record<string, never>;
  readonly events: number;
  /** By code. */
  readonly rejected: ReadonlyMap<string, number>;
  readonly sums: readonly RepricedSum[];
  readonly charges: readonly PackedCharges[];
  readonly plans: readonly { readonly id: string; readonly plan: string }[];
  readonly differences: readonly PeriodDifference[];
}

/** Takes a portion, unless somebody has: then false, and nothing is to be written. */
const takeSql = `
  update repricing_run set step = :step + 1, is_done = :isDone, account_id = :accountId,
    event_id = :eventId, counters = :counters::jsonb, events = events + :events, rejected = (
      select coalesce(jsonb_object_agg(code, events), '{}') from (
        select key as code, sum(value::bigint) as events from (
          select * from jsonb_each_text(rejected)
          union all select * from jsonb_each_text(:rejected::jsonb)
        ) as each group by key
      ) as summed
    )
  where tenant_id = :tenantId and repricing_id = :repricingId and step = :step
  returning step`;

const sumsSql = `
  insert into repricing_account (tenant_id, repricing_id, account_id, currency, before, after, charges)
  select :tenantId, :repricingId, each.*
  from unnest(:accounts::uuid[], :currencies::text[], :before::numeric[], :after::numeric[],
    :charges::bigint[]) as each (account_id, currency, before, after, charges)
  order by 3, 4
  on conflict (tenant_id, repricing_id, account_id, currency) do update
    set before = repricing_account.before + excluded.before,
      after = repricing_account.after + excluded.after,
      charges = repricing_account.charges + excluded.charges`;

const chargesSql = `
  insert into repricing_charge (tenant_id, repricing_id, account_id, first, count, charges)
  select :tenantId, :repricingId, each.account_id, coalesce((
      select known.first + known.count from repricing_charge as known
      where known.tenant_id = :tenantId and known.repricing_id = :repricingId
        and known.account_id = each.account_id
      order by known.first desc limit 1
    ), 0), each.count, each.charges
  from unnest(:accounts::uuid[], :counts::integer[], string_to_array(:charges, ${jsonSeparatorSql}))
    as each (account_id, count, charges)`;

/** Writes a portion; false: it was written before. */
export async function writePortion(
  trx: Knex.Transaction,
  tenantId: string,
  portion: RepricedPortion,
): Promise<boolean> {
  const { repricingId, step, isDone, accountId, eventId, events, sums, charges, plans } = portion;
  const taken = await sqlRows(trx, takeSql, {
    tenantId,
    repricingId,
    step,
    isDone,
    accountId,
    eventId,
    events,
    counters: JSON.stringify(portion.counters),
    rejected: JSON.stringify(Object.fromEntries(portion.rejected)),
  });
  if (taken.length === 0) return false;
  await addDifferences(trx, tenantId, repricingId, portion.differences);
  if (plans.length > 0) {
    await sqlRows(
      trx,
      `insert into repricing_plan (tenant_id, repricing_id, id, plan)
       select ?, ?, each.id, each.plan::jsonb from unnest(?::uuid[], ?::text[]) as each (id, plan)
       on conflict do nothing`,
      [tenantId, repricingId, plans.map(({ id }) => id), plans.map(({ plan }) => plan)],
    );
  }
  if (sums.length > 0) {
    await sqlRows(trx, sumsSql, {
      tenantId,
      repricingId,
      accounts: sums.map((sum) => sum.accountId),
      currencies: sums.map((sum) => sum.currency),
      before: sums.map((sum) => sum.before),
      after: sums.map((sum) => sum.after),
      charges: sums.map((sum) => sum.charges),
    });
    await sqlRows(trx, chargesSql, {
      tenantId,
      repricingId,
      accounts: charges.map((packed) => packed.accountId),
      counts: charges.map((packed) => packed.count),
      charges: joinJson(charges.map((packed) => packed.charges)),
    });
  }
  return true;
}
