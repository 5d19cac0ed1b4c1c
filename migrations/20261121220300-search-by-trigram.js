/**
 * Indexes for searches by part of a text (docs/decisions/0079): pg_trgm, and btree_gin for the tenant
 * in front. Both come with PostgreSQL and are trusted, so whoever may create objects in the database
 * may create them. Where that is not allowed searches read the rows of the tenant instead: slower,
 * but right.
 */
const searched = {
  account: ['name', 'number', 'external_id'],
  service: ['name', 'code', 'label'],
  contract: ['name', 'number'],
  payment: ['payment_reference', 'comments', 'participant_name'],
  wallet: ['title', 'customer_id'],
  invoice: ['invoice_no'],
  rated_transaction: ['external_tran_id'],
};
const withoutDeletion = new Set(['invoice', 'rated_transaction']);

export async function up(knex) {
  const indexes = Object.entries(searched).map(([table, columns]) => {
    const keys = columns.map((column) => `${column} gin_trgm_ops`).join(', ');
    const where = withoutDeletion.has(table) ? '' : 'where deleted_at is null';
    return `create index ${table}_search on ${table} using gin (tenant_id, ${keys}) ${where};`;
  });
  await knex.raw(`
    do $$ begin
      create extension if not exists pg_trgm;
      create extension if not exists btree_gin;
      ${indexes.join('\n      ')}
    exception when insufficient_privilege or undefined_file or feature_not_supported then
      raise notice 'no pg_trgm and btree_gin (%): searches will read all rows of a tenant', sqlerrm;
    end $$;
  `);
}

export async function down(knex) {
  const names = Object.keys(searched).map((table) => `${table}_search`);
  await knex.raw(`drop index if exists ${names.join(', ')}`);
}
