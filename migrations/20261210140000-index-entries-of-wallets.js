export const config = { transaction: false };

/** Entries of wallets by time, and recurring charges by their first day: the order of their exports. */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists wallet_entry_time');
  await knex.raw(`create index concurrently wallet_entry_time
    on wallet_entry (tenant_id, at, wallet_id, number)`);
  await knex.raw('drop index concurrently if exists recurring_charge_day');
  await knex.raw(`create index concurrently recurring_charge_day
    on recurring_charge (tenant_id, bill_start_date, id) where voided_at is null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists recurring_charge_day');
  await knex.raw('drop index concurrently if exists wallet_entry_time');
}
