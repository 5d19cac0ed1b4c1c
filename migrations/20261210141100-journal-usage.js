/**
 * Usage is booked behind rating, when what it adds to the totals is merged into them, in that
 * transaction: a charge is in the journal or waits in `usage_change`, and never both.
 */
export async function up(knex) {
  await knex.raw(`
    create function journal_usage() returns trigger language plpgsql as $$
    begin
      insert into journal_entry (tenant_id, at, kind, account_id, currency, accounts, amounts)
      select tenant_id, at, 'usage', account_id, currency,
        array['unbilled', case when usage_type = 'Payout' then 'payouts' else 'revenue' end],
        array[amount, -amount]
      from (
        select added.tenant_id, coalesce(clock.stands_at, added.at) as at, part.account_id,
          part.currency, part.usage_type,
          sum(case when part.usage_type = 'Payout' then -added.amount else added.amount end) as amount
        from (
          select change.tenant_id, date_trunc('minute', change.added_at) as at, one.combination_id,
            one.position, sum(one.amount) as amount
          from gone as change
            cross join unnest(change.combination_ids, change.positions, change.amounts)
              as one (combination_id, position, amount)
          group by 1, 2, 3, 4
        ) as added join usage_combination_part as part
          on part.tenant_id = added.tenant_id and part.combination_id = added.combination_id
          and part.position = added.position
        left join tenant_clock as clock on clock.tenant_id = added.tenant_id
        where part.attribute_name is null
        group by 1, 2, 3, 4, 5
      ) as charged where amount <> 0;
      return null;
    end $$;
    create trigger journal after delete on usage_change
      referencing old table as gone for each statement execute function journal_usage();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal on usage_change;
    drop function journal_usage();
  `);
}
