/** Items for what was corrected after it was invoiced (docs/decisions/0373). */
export async function up(knex) {
  await knex.raw(`
    alter table invoice_item
      -- The invoice whose charges were corrected; null of all other items.
      add column corrected_invoice_id uuid;

    -- Which of its event's charges this one is (docs/decisions/0040).
    create function usage_charge_number(id uuid) returns integer
    language sql immutable strict parallel safe
    return (get_byte(uuid_send(id), 8) & 63) * 256 + get_byte(uuid_send(id), 9);
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function usage_charge_number(uuid);
    alter table invoice_item drop column corrected_invoice_id;
  `);
}
