/**
 * The workflow of a run is written once, not with each event that it rates (docs/decisions/0324).
 * Events of before keep theirs.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_run (
      tenant_id text collate "C" not null,
      run_id uuid not null,
      workflow_id text not null,
      constraint usage_run_pkey primary key (tenant_id, run_id)
    );
    select protect_tenant_rows('usage_run');
    -- Null: that of its run.
    alter table usage_event alter column workflow_id drop not null;
  `);
}

export async function down(knex) {
  await knex.raw(`
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        update usage_event as event set workflow_id = run.workflow_id from usage_run as run
        where event.tenant_id = tenant and event.workflow_id is null
          and run.tenant_id = tenant and run.run_id = event.run_id;
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;
    alter table usage_event alter column workflow_id set not null;
    drop table usage_run;
  `);
}
