/**
 * The PDF of an invoice that was voided is another one than that which was sent: both are kept
 * (docs/decisions/0158).
 */
const unique = (columns) => `
  alter table invoice_document
    drop constraint invoice_document_type,
    add constraint invoice_document_type unique (tenant_id, ${columns});`;

export async function up(knex) {
  await knex.raw(`
    -- Whether it shows that the invoice is void.
    alter table invoice_document add column is_void boolean not null default false;
    ${unique('invoice_id, content_type, is_void')}
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
        -- They can be rendered again.
        delete from invoice_document where tenant_id = tenant and is_void;
      end loop;
    end $$;
    ${unique('invoice_id, content_type')}
    alter table invoice_document drop column is_void;
  `);
}
