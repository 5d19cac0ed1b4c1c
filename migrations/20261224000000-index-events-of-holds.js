/**
 * One event commits one hold, whichever accounts ask for it at the same moment. Of those that do so just
 * now all but the first are open again, as where their event could not be rated: else nothing would end
 * them where no worker runs, and no process would start.
 */
export const config = { transaction: false };

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
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists wallet_hold_event');
  await knex.raw(
    `create unique index concurrently wallet_hold_event on wallet_hold (tenant_id, external_id)
      where status = 'committing'`,
  );
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists wallet_hold_event');
}
