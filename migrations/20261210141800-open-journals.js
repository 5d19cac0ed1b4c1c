/**
 * Tenants that are there now: the watch of grants opens their journals with what their books say and no
 * trigger has booked (docs/decisions/0400). Behind the triggers, so that nothing falls between. As the
 * owner, whom row-level security holds to a tenant.
 */
export async function up(knex) {
  await knex.raw(`
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into journal_state (tenant_id, recognized_until)
        values (tenant, (now() at time zone 'UTC')::date)
        on conflict (tenant_id) do update set opened_at = null;
      end loop;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw('update journal_state set opened_at = now() where opened_at is null');
}
