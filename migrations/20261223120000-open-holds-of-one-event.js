/**
 * Of holds that are committed by one event at the same moment all but the first are open again, as where
 * their event could not be rated: one event is to commit one hold from now on, and where no worker runs
 * nothing else would end them, and no process would start.
 */
export async function up(knex) {
  await knex.raw(`
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        update wallet_hold as hold
        set status = 'open', release_at = expires_at, external_id = null, message_id = null
        where tenant_id = tenant and status = 'committing' and exists (
          select from wallet_hold as first
          where first.tenant_id = tenant and first.external_id = hold.external_id
            and first.status = 'committing' and first.id < hold.id);
      end loop;
    end $$;
  `);
}

/** An event commits none of them by itself. */
export async function down() {}
