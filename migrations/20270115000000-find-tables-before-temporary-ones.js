/**
 * Functions that run as their owner look for temporary tables last: named or not, `pg_temp` is looked at
 * first where the path does not say otherwise, and a login that makes a table of the same name would have
 * triggers of its own run as the owner (docs/decisions/0518).
 */
const setPaths = (path) => `
  do $$
  declare
    each regprocedure;
  begin
    for each in
      select oid::regprocedure from pg_proc
      where prosecdef and pronamespace = 'public'::regnamespace
    loop
      execute format('alter function %s set search_path = ${path}', each);
    end loop;
  end $$`;

export async function up(knex) {
  await knex.raw(setPaths('pg_catalog, public, pg_temp'));
}

export async function down(knex) {
  await knex.raw(setPaths('pg_catalog, public'));
}
