import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';

/** The usage of a counter that one account is charged in one currency. */
export interface MeterUsage {
  readonly meterId: string;
  readonly accountId: string;
  readonly currency: string;
}

export const meterUsageKey = ({ meterId, accountId, currency }: MeterUsage): string =>
  `${meterId}/${accountId}/${currency}`;

/** What is added to the charges of a counter; `since` is when the first of them became known. */
export interface MeterCharge extends MeterUsage {
  readonly charged: Decimal;
  readonly since: Date;
}

/** What is added to what a grant has paid of them; below zero where it gets something back. */
export interface MeterDraw extends MeterUsage {
  readonly grantId: string;
  readonly walletId: string;
  readonly drawn: Decimal;
}

/** A charge that is taken back, and when it had become known. */
export interface MeterReversal extends MeterUsage {
  readonly amount: Decimal;
  readonly knownAt: Date;
}

/** What the usage of a counter comes to, and what one grant has paid of it: decimal text. */
export interface MeterCredit extends MeterUsage {
  readonly charged: string;
  /** Null where no grant has paid anything. */
  readonly grantId: string | null;
  readonly walletId: string | null;
  readonly drawn: string | null;
}

const usageColumns = { meterId: 'uuid', accountId: 'uuid', currency: 'text' } as const;

const charges = new BulkTable<MeterCharge>('meter_charge', {
  ...usageColumns,
  charged: 'numeric',
  since: 'timestamptz',
});

const draws = new BulkTable<MeterDraw>('meter_draw', {
  ...usageColumns,
  grantId: 'uuid',
  walletId: 'uuid',
  drawn: 'numeric',
});

/** The statement that adds to the charges of counters, each named once. */
export const addingCharges = (
  tenantId: string,
  rows: readonly MeterCharge[],
): BulkStatement | null =>
  charges.inserting(
    tenantId,
    rows,
    `on conflict (tenant_id, meter_id, account_id, currency)
     do update set charged = meter_charge.charged + excluded.charged,
       since = least(meter_charge.since, excluded.since)`,
  );

/** The statement that adds to what grants have paid of them, each named once. */
export const addingDraws = (tenantId: string, rows: readonly MeterDraw[]): BulkStatement | null =>
  draws.inserting(
    tenantId,
    rows,
    `on conflict (tenant_id, meter_id, account_id, currency, grant_id)
     do update set drawn = meter_draw.drawn + excluded.drawn`,
  );

const askedSql = `unnest(:meterIds::uuid[], :accountIds::uuid[], :currencies::text[])
       as asked (meter_id, account_id, currency)
     join meter_charge as own on own.tenant_id = :tenantId and own.meter_id = asked.meter_id
       and own.account_id = asked.account_id and own.currency = asked.currency`;

const bindingsOf = (tenantId: string, asked: readonly MeterUsage[]) => ({
  tenantId,
  meterIds: arrayLiteral(asked.map(({ meterId }) => meterId)),
  accountIds: arrayLiteral(asked.map(({ accountId }) => accountId)),
  currencies: arrayLiteral(
    asked.map(({ currency }) => currency),
    true,
  ),
});

/** What usage of these counters comes to, a row for each grant that has paid of it, or one without. */
export async function readMeterCredits(
  db: Knex,
  tenantId: string,
  asked: readonly MeterUsage[],
): Promise<MeterCredit[]> {
  if (asked.length === 0) return [];
  return sqlRows<MeterCredit>(
    db,
    `select own.meter_id as "meterId", own.account_id as "accountId", own.currency, own.charged,
       paid.grant_id as "grantId", paid.wallet_id as "walletId", paid.drawn
     from ${askedSql}
     left join meter_draw as paid on paid.tenant_id = own.tenant_id
       and paid.meter_id = own.meter_id and paid.account_id = own.account_id
       and paid.currency = own.currency and paid.drawn > 0`,
    bindingsOf(tenantId, asked),
  );
}

/** Those of which grants have paid more than they come to. */
export async function findOverpaid(
  db: Knex,
  tenantId: string,
  asked: readonly MeterUsage[],
): Promise<MeterUsage[]> {
  if (asked.length === 0) return [];
  return sqlRows<MeterUsage>(
    db,
    `select own.meter_id as "meterId", own.account_id as "accountId", own.currency
     from ${askedSql}
     where (
       select sum(paid.drawn) from meter_draw as paid where paid.tenant_id = own.tenant_id
         and paid.meter_id = own.meter_id and paid.account_id = own.account_id
         and paid.currency = own.currency
     ) > greatest(own.charged, 0)
     order by 1, 2, 3`,
    bindingsOf(tenantId, asked),
  );
}

/** Of these charges, those that are counted: the others became known before their counter was kept. */
export async function findCounted(
  trx: Knex.Transaction,
  tenantId: string,
  asked: readonly MeterReversal[],
): Promise<ReadonlySet<MeterReversal>> {
  if (asked.length === 0) return new Set();
  const rows = await sqlRows<{ place: number }>(
    trx,
    `select place::integer from unnest(:meterIds::uuid[], :accountIds::uuid[],
         :currencies::text[], :knownAts::timestamptz[])
         with ordinality as asked (meter_id, account_id, currency, known_at, place)
       join meter_charge as own on own.tenant_id = :tenantId and own.meter_id = asked.meter_id
         and own.account_id = asked.account_id and own.currency = asked.currency
         and own.since <= asked.known_at`,
    {
      ...bindingsOf(tenantId, asked),
      knownAts: arrayLiteral(asked.map(({ knownAt }) => knownAt.toISOString())),
    },
  );
  return new Set(rows.flatMap(({ place }) => asked[place - 1] ?? []));
}
