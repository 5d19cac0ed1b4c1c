/**
 * What is in wallets becomes their first grant (docs/decisions/0390), where 20261209120000 could not do
 * it: an owner that is no superuser sees rows of one tenant at a time, and it found no wallet.
 */
export async function up(knex) {
  await knex.raw(`
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into wallet_balance (tenant_id, wallet_id, account_id, currency, is_active, balance,
          last_entry)
        select tenant_id, id, account_id, currency, is_active, balance, 1 from wallet
        where tenant_id = tenant and deleted_at is null and balance > 0
        on conflict do nothing;
        insert into wallet_grant (tenant_id, id, wallet_id, external_id, kind, amount, rest,
          effective_from, entered_at, created_at)
        select tenant_id, gen_random_uuid(), wallet_id, 'opening', 'purchased', balance, balance,
          now(), now(), now()
        from wallet_balance as own
        where tenant_id = tenant and last_entry = 1 and not exists (
          select from wallet_grant as given
          where given.tenant_id = tenant and given.wallet_id = own.wallet_id
        );
        insert into wallet_entry (tenant_id, wallet_id, number, kind, amount, balance_after, grant_id,
          at)
        select tenant_id, wallet_id, 1, 'grant', amount, amount, id, entered_at
        from wallet_grant as given
        where tenant_id = tenant and external_id = 'opening' and not exists (
          select from wallet_entry as entry
          where entry.tenant_id = tenant and entry.wallet_id = given.wallet_id
        );
      end loop;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw('select 1');
}
