/**
 * One event commits one hold, whichever accounts ask for it at the same moment. Where two wait for the
 * same one just now this fails, and the migration runs again: within five minutes workers have ended them,
 * and the migration before has ended those that no worker would.
 */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists wallet_hold_event');
  await knex.raw(
    `create unique index concurrently wallet_hold_event on wallet_hold (tenant_id, external_id)
      where status = 'committing'`,
  );
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists wallet_hold_event');
}
