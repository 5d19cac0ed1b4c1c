/**
 * When an invoice was found to be overdue: webhooks are told of it once (docs/decisions/0230). What is
 * overdue already is found by the first look after this release.
 */
export async function up(knex) {
  await knex.raw(`
    alter table invoice add column overdue_at timestamptz;
    -- What may become overdue, by the day on which it does.
    create index invoice_not_yet_overdue on invoice (tenant_id, due_date, id)
      where balance > 0 and overdue_at is null;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop index invoice_not_yet_overdue;
    alter table invoice drop column overdue_at;
  `);
}
