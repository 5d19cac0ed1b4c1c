import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';

/** The usage of a counter that one account is charged in one currency. */
export interface CounterUsage {
  readonly counterId: string;
  readonly accountId: string;
  readonly currency: string;
}

export const counterUsageKey = ({ counterId, accountId, currency }: CounterUsage): string =>
  `${counterId}/${accountId}/${currency}`;

/** What is added to the charges of a counter; `since` is when the first of them became known. */
export interface CounterCharge extends CounterUsage {
  readonly charged: Decimal;
  readonly since: Date;
}

/** What is added to what a grant has paid of them; below zero where it gets something back. */
export interface CounterDraw extends CounterUsage {
  readonly grantId: string;
  readonly walletId: string;
  readonly drawn: Decimal;
}

/** A charge that is taken back, and when it had become known. */
export interface CounterReversal extends CounterUsage {
  readonly amount: Decimal;
  readonly knownAt: Date;
}

/** What the usage of a counter comes to, and what one grant has paid of it: decimal text. */
export interface CounterCredit extends CounterUsage {
  readonly charged: string;
  /** Null where no grant has paid anything. */
  readonly grantId: string | null;
  readonly walletId: string | null;
  readonly drawn: string | null;
}

const usageColumns = { counterId: 'uuid', accountId: 'uuid', currency: 'text' } as const;

const charges = new BulkTable<CounterCharge>('counter_charge', {
  ...usageColumns,
  charged: 'numeric',
  since: 'timestamptz',
});

const draws = new BulkTable<CounterDraw>('counter_draw', {
  ...usageColumns,
  grantId: 'uuid',
  walletId: 'uuid',
  drawn: 'numeric',
});

/** The statement that adds to the charges of counters, each named once. */
export const addingCharges = (
  tenantId: string,
  rows: readonly CounterCharge[],
): BulkStatement | null =>
  charges.inserting(
    tenantId,
    rows,
    `on conflict (tenant_id, counter_id, account_id, currency)
     do update set charged = counter_charge.charged + excluded.charged`,
  );

/** The statement that adds to what grants have paid of them, each named once. */
export const addingDraws = (tenantId: string, rows: readonly CounterDraw[]): BulkStatement | null =>
  draws.inserting(
    tenantId,
    rows,
    `on conflict (tenant_id, counter_id, account_id, currency, grant_id)
     do update set drawn = counter_draw.drawn + excluded.drawn`,
  );

const askedSql = `unnest(:counterIds::uuid[], :accountIds::uuid[], :currencies::text[])
       as asked (counter_id, account_id, currency)
     join counter_charge as own on own.tenant_id = :tenantId and own.counter_id = asked.counter_id
       and own.account_id = asked.account_id and own.currency = asked.currency`;

const bindingsOf = (tenantId: string, asked: readonly CounterUsage[]) => ({
  tenantId,
  counterIds: arrayLiteral(asked.map(({ counterId }) => counterId)),
  accountIds: arrayLiteral(asked.map(({ accountId }) => accountId)),
  currencies: arrayLiteral(
    asked.map(({ currency }) => currency),
    true,
  ),
});

/** What usage of these counters comes to, a row for each grant that has paid of it, or one without. */
export async function readCounterCredits(
  db: Knex,
  tenantId: string,
  asked: readonly CounterUsage[],
): Promise<CounterCredit[]> {
  if (asked.length === 0) return [];
  return sqlRows<CounterCredit>(
    db,
    `select own.counter_id as "counterId", own.account_id as "accountId", own.currency, own.charged,
       paid.grant_id as "grantId", paid.wallet_id as "walletId", paid.drawn
     from ${askedSql}
     left join counter_draw as paid on paid.tenant_id = own.tenant_id
       and paid.counter_id = own.counter_id and paid.account_id = own.account_id
       and paid.currency = own.currency and paid.drawn > 0`,
    bindingsOf(tenantId, asked),
  );
}

/** Those of which grants have paid more than they come to. */
export async function findOverpaid(
  db: Knex,
  tenantId: string,
  asked: readonly CounterUsage[],
): Promise<CounterUsage[]> {
  if (asked.length === 0) return [];
  return sqlRows<CounterUsage>(
    db,
    `select own.counter_id as "counterId", own.account_id as "accountId", own.currency
     from ${askedSql}
     where (
       select sum(paid.drawn) from counter_draw as paid where paid.tenant_id = own.tenant_id
         and paid.counter_id = own.counter_id and paid.account_id = own.account_id
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
  asked: readonly CounterReversal[],
): Promise<ReadonlySet<CounterReversal>> {
  if (asked.length === 0) return new Set();
  const rows = await sqlRows<{ place: number }>(
    trx,
    `select place::integer from unnest(:counterIds::uuid[], :accountIds::uuid[],
         :currencies::text[], :knownAts::timestamptz[])
         with ordinality as asked (counter_id, account_id, currency, known_at, place)
       join counter_charge as own on own.tenant_id = :tenantId and own.counter_id = asked.counter_id
         and own.account_id = asked.account_id and own.currency = asked.currency
         and own.since <= asked.known_at`,
    {
      ...bindingsOf(tenantId, asked),
      knownAts: arrayLiteral(asked.map(({ knownAt }) => knownAt.toISOString())),
    },
  );
  return new Set(rows.flatMap(({ place }) => asked[place - 1] ?? []));
}
