/** Whether a tenant may have another execution of its workflows (docs/decisions/0403). */
export async function up(knex) {
  // Whoever claims what is to be started sees no tenant's executions, but may know this of them.
  await knex.raw(`
    create function may_run_more_definitions(of_tenant text, most integer) returns boolean
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare
      entered text := coalesce(current_setting('app.tenant_id', true), '');
      running integer;
    begin
      if entered not in (of_tenant, '*') then
        raise insufficient_privilege using message = 'a session asks about its own tenant';
      end if;
      perform set_config('app.tenant_id', of_tenant, true);
      select count(*) into running from (
        select from execution where tenant_id = of_tenant and status = 'running'
          and workflow like 'runDefinition/%' limit most
      ) as known;
      perform set_config('app.tenant_id', entered, true);
      return running < most;
    end $$;
    revoke all on function may_run_more_definitions(text, integer) from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function may_run_more_definitions(text, integer) to durabill_app;
      end if;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw('drop function may_run_more_definitions(text, integer)');
}
