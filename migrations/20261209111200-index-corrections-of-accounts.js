export const config = { transaction: false };

/** The corrections of an account, for its timeline (docs/decisions/0382). */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_correction_accounts');
  await knex.raw(`create index concurrently usage_correction_accounts
    on usage_correction using gin (accounts jsonb_path_ops)`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_correction_accounts');
}
