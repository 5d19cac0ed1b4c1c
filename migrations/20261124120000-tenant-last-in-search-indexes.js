/**
 * The tenant stands last in the indexes of searches (docs/decisions/0156): an index of this kind
 * reads its columns in order, and only what the one before has found. In front, the tenant made
 * each search unpack the list of all its rows.
 */
const searched = {
  account: { columns: ['name', 'number', 'external_id'], where: 'where deleted_at is null' },
  service: { columns: ['name', 'code', 'label'], where: 'where deleted_at is null' },
  contract: { columns: ['name', 'number'], where: 'where deleted_at is null' },
  payment: {
    columns: ['payment_reference', 'comments', 'participant_name'],
    where: 'where deleted_at is null',
  },
  wallet: { columns: ['title', 'customer_id'], where: 'where deleted_at is null' },
  invoice: { columns: ['invoice_no'] },
  rated_transaction: { columns: ['external_tran_id'] },
  record: { columns: ['(data::text)'], owners: ['tenant_id', 'record_type_id'] },
};

/** Where the extensions were not allowed there is no such index to make anew. */
const recreate = (knex, orderOf) => {
  const statements = Object.entries(searched).map(
    ([table, { columns, where = '', owners = ['tenant_id'] }]) => {
      const texts = columns.map((column) => `${column} gin_trgm_ops`);
      return `if to_regclass('${table}_search') is not null then
        drop index ${table}_search;
        create index ${table}_search on ${table} using gin (${orderOf(texts, owners)}) ${where};
      end if;`;
    },
  );
  return knex.raw(`do $$ begin ${statements.join('\n')} end $$;`);
};

export const up = (knex) => recreate(knex, (texts, owners) => [...texts, ...owners].join(', '));

export const down = (knex) => recreate(knex, (texts, owners) => [...owners, ...texts].join(', '));
