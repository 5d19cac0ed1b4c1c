/**
 * A billing run inserts thousands of invoices and items with a few statements: their audit rows are
 * written by statement too. Changes of single rows are audited as before.
 */
const tables = ['invoice', 'invoice_item'];

export async function up(knex) {
  await knex.raw(`
    create function audit_inserted() returns trigger language plpgsql as $$
    begin
      insert into audit (tenant_id, actor, request_id, entity, entity_id, action, before, after)
      select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
        tg_table_name, id, 'create', null, to_jsonb(added)
      from added;
      return null;
    end $$;
    ${tables
      .map(
        (table) => `
    drop trigger audit on ${table};
    create trigger audit after update or delete on ${table}
      for each row execute function audit_change();
    create trigger audit_inserted after insert on ${table}
      referencing new table as added for each statement execute function audit_inserted();`,
      )
      .join('')}
  `);
}

export async function down(knex) {
  await knex.raw(`
    ${tables
      .map(
        (table) => `
    drop trigger audit_inserted on ${table};
    drop trigger audit on ${table};
    select audit_table('${table}');`,
      )
      .join('')}
    drop function audit_inserted();
  `);
}
