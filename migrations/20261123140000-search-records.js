/**
 * An index for `contains` on records (docs/decisions/0150): the trigrams of their JSON texts. Whoever
 * may not create the extensions searches the records of the type instead, as in 0079.
 */
export async function up(knex) {
  await knex.raw(`
    do $$ begin
      create extension if not exists pg_trgm;
      create extension if not exists btree_gin;
      create index record_search on record
        using gin (tenant_id, record_type_id, (data::text) gin_trgm_ops);
    exception when insufficient_privilege or undefined_file or feature_not_supported then
      raise notice 'no pg_trgm and btree_gin (%): contains will read all records of a type', sqlerrm;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw('drop index if exists record_search');
}
