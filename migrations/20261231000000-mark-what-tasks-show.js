/**
 * What the values that a run of a task shows are made of, in bits: a secret that an execution has given its
 * value is looked for only where it can be (docs/decisions/0458). Null: that was not looked at yet.
 */
export async function up(knex) {
  await knex.raw('alter table workflow_task add column marks varbit');
}

export async function down(knex) {
  await knex.raw('alter table workflow_task drop column marks');
}
