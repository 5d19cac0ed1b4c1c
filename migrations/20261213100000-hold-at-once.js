/**
 * One statement makes a hold (docs/decisions/0445). It does not know the time after its locks: what it
 * enters is not before `moved_at`, the instant of the last entry of the wallet. Each hold is made under
 * its own request again, so it is audited as everything else.
 */
export async function up(knex) {
  await knex.raw(`
    alter table wallet_balance add column moved_at timestamptz;

    -- contract: no version that was released has holds.
    drop trigger audit_inserted on wallet_hold;
    drop trigger audit on wallet_hold;
    drop function audit_holds();
    select audit_table('wallet_hold');
  `);
}

export async function down(knex) {
  await knex.raw(`
    create function audit_holds() returns trigger
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare
      trails jsonb := coalesce(nullif(current_setting('app.trails', true), ''), '{}')::jsonb;
    begin
      insert into audit
        (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action, after)
      select tenant_id,
        coalesce(trail ->> 0, current_setting('app.actor', true)),
        coalesce(trail ->> 1, current_setting('app.request_id', true)),
        case when trail is null then nullif(current_setting('app.caller_request_id', true), '')
          else trail ->> 2 end,
        tg_table_name, id, 'create', to_jsonb(added)
      from added cross join lateral (select trails -> added.id::text as trail) as own;
      return null;
    end $$;

    drop trigger audit on wallet_hold;
    create trigger audit after update or delete on wallet_hold
      for each row execute function audit_change();
    create trigger audit_inserted after insert on wallet_hold
      referencing new table as added for each statement execute function audit_holds();

    alter table wallet_balance drop column moved_at;
  `);
}
