/** What flows keep beside a record: its draft, who approved it, and what only flows ask for. */
export async function up(knex) {
  await knex.raw(`
    -- The input of a flow that was called with draftMode, until the flow is completed.
    create table draft (
      tenant_id text collate "C" not null references tenant (id),
      entity text not null,
      entity_id uuid not null,
      workflow text not null,
      input jsonb not null,
      created_at timestamptz not null default now(),
      constraint draft_pkey primary key (tenant_id, entity, entity_id)
    );
    select protect_tenant_rows('draft');

    alter table account
      add column profile jsonb not null default '{}',
      add column approved_by text,
      add column approved_at timestamptz;
    alter table contract
      add column approved_by text,
      add column approved_at timestamptz;
    alter table service
      add column approved_by text,
      add column approved_at timestamptz;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table draft;
    alter table account drop column profile, drop column approved_by, drop column approved_at;
    alter table contract drop column approved_by, drop column approved_at;
    alter table service drop column approved_by, drop column approved_at;
  `);
}
