/**
 * An entry was looked up in `tenant` for each row, a thousand times in a batch of usage that grants pay.
 * Entries are written by who has locked their wallet, which is a tenant's by a foreign key of its own
 * (docs/decisions/0484).
 */
export async function up(knex) {
  await knex.raw('alter table wallet_entry drop constraint if exists wallet_entry_tenant_id_fkey');
}

export async function down(knex) {
  await knex.raw(`alter table wallet_entry add constraint wallet_entry_tenant_id_fkey
    foreign key (tenant_id) references tenant (id) not valid`);
}
