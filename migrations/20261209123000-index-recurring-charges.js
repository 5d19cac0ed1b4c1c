/** Recurring charges by the day for which they begin, for sums of a period (docs/decisions/0393). */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists recurring_charge_account');
  await knex.raw(`create index concurrently recurring_charge_account
    on recurring_charge (tenant_id, account_id, bill_start_date)`);
  await knex.raw('drop index concurrently if exists recurring_charge_contract');
  await knex.raw(`create index concurrently recurring_charge_contract
    on recurring_charge (tenant_id, contract_id, bill_start_date)`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists recurring_charge_contract');
  await knex.raw('drop index concurrently if exists recurring_charge_account');
}
