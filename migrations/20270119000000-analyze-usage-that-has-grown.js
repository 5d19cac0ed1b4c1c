/**
 * What the planner knows of facts as wholes is gathered again as soon as they have doubled, and not only
 * after a day: a new instance knew of none for a day, since the migrations had gathered that there are none.
 */
const define = (isStale) => `
  create or replace function analyze_usage_partitions() returns boolean
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
  declare
    kept text;
    done boolean := false;
  begin
    foreach kept in array array['usage_event', 'rated_transaction'] loop
      if exists (
        select from pg_stat_user_tables as stat
        join pg_class as whole on whole.oid = stat.relid
        cross join lateral (
          select max(part.reltuples) as largest, sum(greatest(part.reltuples, 0)) as "all"
          from pg_inherits join pg_class as part on part.oid = inhrelid
          where inhparent = stat.relid
        ) as known
        where stat.relid = kept::regclass and known.largest >= 1000 and (${isStale})
      ) and pg_try_advisory_xact_lock(hashtextextended('usage-partitions-known', 0)) then
        execute format('analyze %I', kept);
        done := true;
      end if;
    end loop;
    return done;
  end $$`;

const isOld = `stat.last_analyze < now() - interval '1 day' or stat.last_analyze is null`;

export async function up(knex) {
  await knex.raw(define(`${isOld} or known."all" > 2 * greatest(whole.reltuples, 0)`));
}

export async function down(knex) {
  await knex.raw(define(isOld));
}
