import type pg from 'pg';
import { groupsSql } from '../../../src/models/usage/finding/usage-list.js';

/** How much a tenant is given. */
export interface Filling {
  readonly tenantId: string;
  readonly accounts: number;
  /** Usage events, each rated to one transaction. */
  readonly events: number;
  readonly services: number;
  /** What a transaction costs, in SQL over the usage event; 1.25 unless it says otherwise. */
  readonly amountSql?: string;
}

/** The id of the n-th account or service, counted from 0. */
export const accountIdOf = (index: number): string => filledId(1, index);
export const serviceIdOf = (index: number): string => filledId(2, index);

const filledId = (kind: number, index: number): string =>
  `0000000${kind}-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;

/** The days of October 2026 on which the events fall: the first ones are the oldest. */
export const filledDays = 28;

/** The plan of all charges that `fillTenant` writes. */
const planId = '00000004-0000-8000-8000-000000000000';

const idSql = (kind: number, index: string): string =>
  `('0000000${kind}-0000-7000-8000-' || lpad(to_hex(${index}), 12, '0'))::uuid`;

/**
 * Writes accounts, rated events and their charges as rating would leave them, with statements over
 * whole tables: a million events within minutes. The connection must be the owner's.
 */
export async function fillTenant(client: pg.Client, filling: Filling): Promise<void> {
  await fillFacts(client, filling);
  // What workers do behind rating.
  await client.query(
    `with taken as (
       delete from usage_unlisted where tenant_id = $1 returning *
     ), waiting as (
       select each.* from taken cross join unnest(ids, account_ids, service_ids)
         as each (id, account_id, service_id)
     )
     insert into usage_list (tenant_id, kind, key, first_id, last_id, events, ids)
     select $1, grouped.* from (${groupsSql('waiting')}) as grouped`,
    [filling.tenantId],
  );
}

/** The same without what workers do behind rating: databases of before have no place for it. */
export async function fillFacts(client: pg.Client, filling: Filling): Promise<void> {
  const { tenantId, accounts, events, services, amountSql = '1.25' } = filling;
  await client.query(
    `insert into account (tenant_id, id, name, number, external_id, default_currency)
     select $1, ${idSql(1, 'i')}, 'Account ' || i, 'A-' || i, 'acct-' || i, 'USD'
     from generate_series(0, $2::bigint - 1) i`,
    [tenantId, accounts],
  );
  await client.query(
    `insert into usage_event (tenant_id, id, partition, "offset", org_id,
       external_transaction_id, status, account_id, service_id, event_at, message, workflow_id,
       run_id, received_at, processed_at)
     select $1, (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(part), 3, '0') || '8000'
         || lpad(to_hex(place), 12, '0'))::uuid, part, place, 'org',
       'txn-' || i, 'rated', ${idSql(1, 'a')}, ${idSql(2, '(i % $4)')}, to_timestamp(ms / 1000.0),
       '{"externalTransactionId":"txn-' || i || '","billingAccountRef":"acct-' || a
         || '","eventTimestamp":"2026-10-01T00:00:00Z","dimensions":{"api_calls":"12"}}',
       'filled', gen_random_uuid(), to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0)
     from (
       select i, (i * 7919) % $3 as a, i % 8 as part, i / 8 as place,
         1790812800000 + i * (${filledDays * 86_400_000} / $2) as ms
       from generate_series(0::bigint, $2::bigint - 1) i
     ) as event`,
    [tenantId, events, accounts, services],
  );
  await client.query(
    `insert into rated_transaction (tenant_id, id, usage_event_id, external_tran_id,
       transaction_date, account_id, master_account_id, service_id, amount, quantity, currency,
       usage_type, charge_type, plan_id)
     select tenant_id, (left(id::text, 19) || '8001' || substr(id::text, 24))::uuid, id,
       external_transaction_id, (event_at at time zone 'UTC')::date, account_id, account_id,
       service_id, ${amountSql}, 12, 'USD', 'Charge', 'Usage', '${planId}'
     from usage_event where tenant_id = $1`,
    [tenantId],
  );
  await client.query(
    `insert into usage_consumer (tenant_id, partition, next_offset, rated, transactions)
     select tenant_id, partition, count(*), count(*), count(*) from usage_event
     where tenant_id = $1 group by 1, 2`,
    [tenantId],
  );
  await client.query(
    `insert into broker_partition (tenant_id, partition, next_offset)
     select tenant_id, partition, next_offset from usage_consumer where tenant_id = $1`,
    [tenantId],
  );
}

/** What billing reads beside the charges: one priced row of each, the plan of all, and services. */
export async function fillPrices(
  client: pg.Client,
  { tenantId, services }: Pick<Filling, 'tenantId' | 'services'>,
): Promise<void> {
  await client.query(`insert into rating_plan (tenant_id, id, plan) values ($1, $2, $3)`, [
    tenantId,
    planId,
    JSON.stringify({ logics: [] }),
  ]);
  await client.query(
    `insert into rated_dimension (tenant_id, transaction_id, position, dimension_id,
       dimension_name, rate_card_row_id, volume, rate, calc_amount, currency, price_method_type,
       item_type, bill_start_date, bill_end_date)
     select tenant_id, id, 0, service_id, 'api_calls', service_id, quantity, 0.1, amount, currency,
       'QUANTITY', 'Usage', transaction_date, transaction_date
     from rated_transaction where tenant_id = $1`,
    [tenantId],
  );
  await client.query(
    `insert into service (tenant_id, id, name, service_type, service_status)
     select $1, id, 'Service ' || id, 'Usage', 'Active' from unnest($2::uuid[]) as id`,
    [tenantId, Array.from({ length: services }, (_each, index) => serviceIdOf(index))],
  );
}

/** What finds the charges by parts of their external ids. */
export async function fillSearch(client: pg.Client, tenantId: string): Promise<void> {
  await client.query(
    `insert into usage_search (tenant_id, external_ids)
     select $1, json_agg(external_tran_id)::text from (
       select external_tran_id, (row_number() over (order by id) - 1) / 32 as part
       from rated_transaction where tenant_id = $1
     ) as numbered group by part`,
    [tenantId],
  );
}
