/**
 * A charge frequency that was changed within a period: a January that was charged by the month and
 * the rest of the quarter that begins with it are two charges of periods with the same first day.
 */
const index = (columns) => `
  drop index recurring_charge_once;
  create unique index recurring_charge_once on recurring_charge
    (tenant_id, contract_service_id, charge_type, ${columns}, account_id, usage_type, position)
    where voided_at is null;`;

export async function up(knex) {
  await knex.raw(index('period_start, period_end'));
}

export async function down(knex) {
  await knex.raw(index('period_start'));
}
