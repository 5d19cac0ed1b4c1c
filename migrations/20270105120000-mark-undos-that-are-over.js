/**
 * Calls that take back tasks of an execution that has ended are removed in portions behind it
 * (docs/decisions/0491): whose execution ends says so, and removes nothing itself.
 */
export async function up(knex) {
  await knex.raw(`
    alter table workflow_undo add column is_over boolean not null default false;
    -- What removes them serves all tenants, and sees no others.
    create policy remover on workflow_undo
      using (current_setting('app.tenant_id', true) = '*' and is_over);
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop policy remover on workflow_undo;
    alter table workflow_undo drop column is_over;
  `);
}
