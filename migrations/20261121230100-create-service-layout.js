/**
 * Estimation layouts (document 2, section 4.2). A document is text, not json: it is returned as it
 * was sent, with the order of its keys and the spelling of its numbers.
 */
export async function up(knex) {
  await knex.raw(`
    create table service_layout (
      tenant_id text collate "C" not null,
      id uuid not null,
      service_id uuid not null,
      document text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint service_layout_pkey primary key (tenant_id, id),
      constraint service_layout_service_fkey foreign key (tenant_id, service_id)
        references service (tenant_id, id)
    );
    create unique index service_layout_service on service_layout (tenant_id, service_id)
      where deleted_at is null;
    select protect_tenant_rows('service_layout'), audit_table('service_layout');
  `);
}

export async function down(knex) {
  await knex.raw('drop table service_layout');
}
