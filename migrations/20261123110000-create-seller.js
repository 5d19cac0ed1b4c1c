/**
 * Who a tenant is on its invoices: what EN 16931 asks of a seller (docs/decisions/0121). The country
 * is an alpha-2 code.
 */
export async function up(knex) {
  await knex.raw(`
    create table seller (
      tenant_id text collate "C" not null references tenant (id),
      name text not null,
      street text,
      street2 text,
      zip_code text,
      city text,
      country text,
      -- With the prefix of its country.
      vat_id text,
      -- Number in a commercial register.
      registration text,
      updated_at timestamptz not null default now(),
      constraint seller_pkey primary key (tenant_id)
    );
    select protect_platform_rows('seller');
  `);
}

export async function down(knex) {
  await knex.raw('drop table seller');
}
