import { v5 } from 'uuid';

/** The ids are the same on every installation; see the migration that creates the picklists. */
const namespace = 'b6f5c3a8-3c55-5d0e-9a55-6f3a7f0d2b11';

const picklist = 'subscriptionChargeType';
const names = ['In Advance', 'In Arrears'];

/** When the subscription charges of a line fall due (docs/decisions/0080). */
export async function up(knex) {
  await knex.raw('alter table contract_service add column subscription_charge_type text');
  await knex('picklist_value').insert(
    names.map((name, position) => ({
      id: v5(`picklist/${picklist}/${name}`, namespace),
      picklist,
      name,
      position,
    })),
  );
}

export async function down(knex) {
  await knex('picklist_value').where({ picklist }).delete();
  await knex.raw('alter table contract_service drop column subscription_charge_type');
}
