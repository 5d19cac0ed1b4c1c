/**
 * The lineage of a contract line: which line it replaced, so that what was charged and counted under
 * that one is not charged again and goes on counting.
 */
export async function up(knex) {
  await knex.raw(`
    alter table contract_service
      -- The first of the lines that replaced each other; null: this one itself.
      add column lineage_id uuid;
    create index contract_service_lineage on contract_service (tenant_id, lineage_id)
      where lineage_id is not null;

    alter table recurring_charge
      add column lineage_id uuid;
    update recurring_charge set lineage_id = contract_service_id;
    alter table recurring_charge alter column lineage_id set not null;

    drop index recurring_charge_once;
    create unique index recurring_charge_once on recurring_charge (
      tenant_id, lineage_id, charge_type, period_start, period_end, account_id, usage_type, position
    ) where voided_at is null;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop index recurring_charge_once;
    create unique index recurring_charge_once on recurring_charge (
      tenant_id, contract_service_id, charge_type, period_start, period_end, account_id, usage_type,
      position
    ) where voided_at is null;
    alter table recurring_charge drop column lineage_id;
    drop index contract_service_lineage;
    alter table contract_service drop column lineage_id;
  `);
}
