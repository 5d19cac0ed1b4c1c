/**
 * Retention of a tenant, its state and its legal hold are in the tenant's own cell; the defaults of the
 * installation are in the home database, and `mirror_retention_defaults` makes those of a cell the same
 * (docs/decisions/0350, 0360).
 */
export async function up(knex) {
  await knex.raw(`
    create function mirror_retention_defaults(rules jsonb) returns void
    language sql security definer set search_path = pg_catalog, public as $$
      delete from retention_rule where tenant_id = '*' and kind not in (
        select given.kind from jsonb_to_recordset(rules) as given (kind text)
      );
      insert into retention_rule as known (tenant_id, kind, days)
      select '*', given.kind, given.days
      from jsonb_to_recordset(rules) as given (kind text, days integer)
      on conflict (tenant_id, kind) do update set days = excluded.days, updated_at = now()
        where known.days is distinct from excluded.days;
    $$;
    revoke all on function mirror_retention_defaults(jsonb) from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function mirror_retention_defaults(jsonb) to durabill_app;
      end if;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw('drop function mirror_retention_defaults(jsonb)');
}
