/** What a grant has lost at its end is looked up where a maximum bills again (docs/decisions/0504). */
export const config = { transaction: false };

export async function up(knex) {
  await knex.raw('drop index concurrently if exists wallet_entry_end');
  await knex.raw(`create index concurrently wallet_entry_end
    on wallet_entry (tenant_id, grant_id) where charge_id is null and hold_id is null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists wallet_entry_end');
}
