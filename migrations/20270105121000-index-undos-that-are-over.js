/** Blocks of calls that are to be removed, which mostly are none. */
export const config = { transaction: false };

export async function up(knex) {
  // What a build that was ended has left.
  await knex.raw('drop index concurrently if exists workflow_undo_over');
  await knex.raw(
    `create index concurrently workflow_undo_over on workflow_undo (tenant_id, execution_id, block)
     where is_over`,
  );
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists workflow_undo_over');
}
