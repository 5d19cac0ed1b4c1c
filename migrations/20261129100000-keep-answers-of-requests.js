/**
 * A request that starts no workflow is done under its key in one transaction, which keeps its answer
 * (docs/decisions/0272). It has no execution.
 */
export async function up(knex) {
  await knex.raw(`
    alter table idempotency_key
      alter column execution_id drop not null,
      alter column workflow_id drop not null,
      -- What it was answered with; the text is null where the answer had no body.
      add column status smallint,
      add column answer text;
  `);
}

export async function down(knex) {
  await knex.raw(`
    delete from idempotency_key where execution_id is null;
    alter table idempotency_key
      drop column status,
      drop column answer,
      alter column execution_id set not null,
      alter column workflow_id set not null;
  `);
}
