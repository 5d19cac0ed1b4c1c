export const config = { transaction: false };

/** Recurring charges by their last day: those of which something is still deferred. */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists recurring_charge_end');
  await knex.raw(`create index concurrently recurring_charge_end
    on recurring_charge (tenant_id, bill_end_date) where voided_at is null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists recurring_charge_end');
}
