/**
 * `rating_version` of services and accounts rises with every statement that changes what rating knows
 * of them, in the transaction of the change, so that no writer can forget it (docs/decisions/0243). The
 * functions run with the rights of the writer: row-level security holds for what they raise.
 *
 * What changed is collected into arrays first: a plan of a function is kept for its session, and one
 * that was made for ten thousand changed rows would read whole tables for one.
 */
const trigger = (table, event, rows, suffix, raise) =>
  `create trigger raise_rating_version_${suffix} after ${event} on ${table}
     referencing ${rows} table as changed for each statement execute function ${raise}();`;

/** Parts do not move from one owner to another, but for those of which `moves` is true. */
const onChanges = (table, raise, { moves = false } = {}) =>
  [
    trigger(table, 'insert', 'new', 'inserted', raise),
    trigger(table, 'update', 'new', 'updated', raise),
    ...(moves ? [trigger(table, 'update', 'old', 'moved', raise)] : []),
    trigger(table, 'delete', 'old', 'deleted', raise),
  ].join('\n');

/** A trigger function: of the rows of each tenant the distinct ids in `column`, raised by `raise`. */
const collect = (name, column, raise) => `
  create function ${name}() returns trigger language plpgsql as $$
  declare
    part record;
  begin
    for part in
      select tenant_id, array_agg(distinct ${column}) as ids from changed
      where ${column} is not null group by tenant_id
    loop
      perform ${raise}(part.tenant_id, part.ids);
    end loop;
    return null;
  end $$;`;

export async function up(knex) {
  await knex.raw(`
    -- In the order of their ids: writers that raise the same ones wait for each other in turn.
    create function raise_services(tenant text, ids uuid[]) returns void language plpgsql as $$
    begin
      perform from service where tenant_id = tenant and id = any(ids) order by id
        for no key update;
      update service set rating_version = rating_version + 1
      where tenant_id = tenant and id = any(ids);
    end $$;

    create function raise_accounts(tenant text, ids uuid[]) returns void language plpgsql as $$
    begin
      perform from account where tenant_id = tenant and id = any(ids) order by id
        for no key update;
      update account set rating_version = rating_version + 1
      where tenant_id = tenant and id = any(ids);
    end $$;

    create function raise_contracts(tenant text, ids uuid[]) returns void language sql as $$
      select raise_accounts(tenant, array_agg(distinct master_account_id)) from contract
      where tenant_id = tenant and id = any(ids)
    $$;

    create function raise_lines(tenant text, ids uuid[]) returns void language sql as $$
      select raise_contracts(tenant, array_agg(distinct contract_id)) from contract_service
      where tenant_id = tenant and id = any(ids)
    $$;

    create function raise_cards(tenant text, ids uuid[]) returns void language sql as $$
      select raise_services(tenant, array_agg(distinct service_id)),
        raise_lines(tenant, array_agg(distinct contract_service_id))
      from rate_card where tenant_id = tenant and id = any(ids)
    $$;

    ${collect('raise_changed_services', 'service_id', 'raise_services')}
    ${collect('raise_changed_cards', 'rate_card_id', 'raise_cards')}
    ${collect('raise_changed_contracts', 'contract_id', 'raise_contracts')}
    ${collect('raise_changed_accounts', 'master_account_id', 'raise_accounts')}

    ${onChanges('pricing_logic', 'raise_changed_services')}
    ${onChanges('rate_card_row', 'raise_changed_cards')}
    ${onChanges('contract_service', 'raise_changed_contracts', { moves: true })}
    ${onChanges('contract', 'raise_changed_accounts', { moves: true })}

    -- Of a service or of a line.
    create function raise_changed_owners() returns trigger language plpgsql as $$
    declare
      part record;
    begin
      for part in
        select tenant_id, array_agg(distinct service_id) filter (where service_id is not null) as services,
          array_agg(distinct contract_service_id) filter (where contract_service_id is not null) as lines
        from changed group by tenant_id
      loop
        if part.services is not null then
          perform raise_services(part.tenant_id, part.services);
        end if;
        if part.lines is not null then perform raise_lines(part.tenant_id, part.lines); end if;
      end loop;
      return null;
    end $$;
    ${onChanges('attribute', 'raise_changed_owners')}
    ${onChanges('rate_card', 'raise_changed_owners')}

    -- A service or an account itself; one whose version is raised already stays as it is.
    create function raise_own_rating_version() returns trigger language plpgsql as $$
    declare
      ignored text[] := array['rating_version', 'updated_at'];
    begin
      if new.rating_version = old.rating_version
        and (to_jsonb(new) - ignored) <> (to_jsonb(old) - ignored)
      then
        new.rating_version := old.rating_version + 1;
      end if;
      return new;
    end $$;
    create trigger raise_own_rating_version before update on service
      for each row execute function raise_own_rating_version();
    create trigger raise_own_rating_version before update on account
      for each row execute function raise_own_rating_version();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger raise_own_rating_version on account;
    drop trigger raise_own_rating_version on service;
    drop function raise_own_rating_version, raise_changed_owners, raise_changed_accounts,
      raise_changed_contracts, raise_changed_cards, raise_changed_services
      cascade;
    drop function raise_cards, raise_lines, raise_contracts, raise_accounts, raise_services;
  `);
}
