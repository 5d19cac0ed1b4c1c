import type pg from 'pg';

/** Writes the priced rows of a tenant's charges as versions before 0321 wrote them. */
const unfoldRows = `
  with unfolded as (
    insert into rated_dimension (tenant_id, transaction_id, position, dimension_id, dimension_name,
      rate_card_row_id, volume, rate, calc_amount, currency, price_method_type, item_type,
      bill_start_date, bill_end_date, counter_id, counter_before, shared_volume, shared_amount)
    select t.tenant_id, t.id, each.position, row.dimension_id, row.dimension_name,
      each.row, each.volume, each.rate, each.amount, t.currency, row.price_method_type,
      t.charge_type, t.transaction_date, t.transaction_date, each.counter, each.before,
      each."sharedVolume", each."sharedAmount"
    from rated_transaction as t cross join lateral (
      select 0 as position, t.rate_card_row_id as row, t.quantity as volume, t.rate,
        coalesce(t.row_amount, t.amount) as amount, t.counter_id as counter,
        t.counter_before as before, null::numeric as "sharedVolume", null::numeric as "sharedAmount"
      where t.rate_card_row_id is not null
      union all
      select ordinality - 1, row, volume, rate, amount, counter, before, "sharedVolume",
        "sharedAmount"
      from rows from (jsonb_to_recordset(t.priced_rows) as (row uuid, volume numeric, rate numeric,
        amount numeric, counter uuid, before numeric, "sharedVolume" numeric,
        "sharedAmount" numeric)) with ordinality
      where t.priced_rows is not null
    ) as each join rating_plan_row as row on row.tenant_id = t.tenant_id
      and row.plan_id = t.plan_id and row.rate_card_row_id = each.row
    where t.tenant_id = $1
  )
  update rated_transaction set rate_card_row_id = null, rate = null, row_volume = null,
    row_amount = null, counter_id = null, counter_before = null, priced_rows = null
  where tenant_id = $1`;

/** Writes the messages of a tenant as versions before 0322 wrote them: in the log and in the events. */
const ungroupMessages = [
  `insert into broker_record (tenant_id, partition, "offset", key, org_id, message, received_at)
   select tenant_id, partition, first_offset + number - 1, keys::jsonb ->> (number - 1)::integer,
     org_ids::jsonb ->> (number - 1)::integer, message, received_at
   from usage_message cross join unnest(string_to_array(messages, U&'\\001E'))
     with ordinality as each (message, number)
   where tenant_id = $1`,
  `update usage_event as event set message = log.message from broker_record as log
   where event.tenant_id = $1 and log.tenant_id = $1 and log.partition = event.partition
     and log."offset" = event."offset"`,
  'delete from usage_message where tenant_id = $1',
];

/** Names the workflow with each event, as versions before 0324 did. */
const nameRuns = [
  `update usage_event as event set workflow_id = run.workflow_id from usage_run as run
   where event.tenant_id = $1 and run.tenant_id = $1 and run.run_id = event.run_id`,
  'delete from usage_run where tenant_id = $1',
];

/** Brings what is rated of a tenant into the form of earlier versions; nothing is moved yet. */
export async function writeAsEarlier(client: pg.Client, tenantId: string): Promise<void> {
  const unknown = [
    'usage_search',
    'usage_identity',
    'usage_range',
    'usage_list',
    'usage_unlisted',
  ].map((table) => `delete from ${table} where tenant_id = $1`);
  for (const sql of [unfoldRows, ...ungroupMessages, ...unknown, ...nameRuns])
    await client.query(sql, [tenantId]);
}

/** Has workers move it, as the migration does. */
export async function beginMoving(client: pg.Client, tenantId: string): Promise<void> {
  await client.query(
    `insert into fact_move (tenant_id, kind, end_id) values ($1, 'priced rows', null),
       ($1, 'messages', null), ($1, 'searched ids', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
       ($1, 'external ids', 'ffffffff-ffff-ffff-ffff-ffffffffffff'), ($1, 'places', null),
       ($1, 'lists', null)
     on conflict (tenant_id, kind) do update set done_at = null, moved = 0`,
    [tenantId],
  );
  await client.query(
    `insert into usage_range_move (tenant_id, partition, end_offset)
     select tenant_id, partition, next_offset from usage_consumer where tenant_id = $1`,
    [tenantId],
  );
}
