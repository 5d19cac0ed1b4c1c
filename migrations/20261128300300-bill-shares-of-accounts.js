/**
 * Shares of accounts are billed (docs/decisions/0244). `account_share` holds those of a line, kept by a
 * trigger from its `account_map`, which takes any object: they count where each name is an account
 * and each value a number above 0. What is rated for several accounts keeps which part is whose.
 */
export async function up(knex) {
  await knex.raw(`
    create table account_share (
      tenant_id text collate "C" not null,
      contract_service_id uuid not null,
      account_id uuid not null,
      weight numeric not null,
      constraint account_share_pkey primary key (tenant_id, contract_service_id, account_id),
      constraint account_share_line foreign key (tenant_id, contract_service_id)
        references contract_service (tenant_id, id),
      constraint account_share_account foreign key (tenant_id, account_id)
        references account (tenant_id, id)
    );
    create index account_share_account on account_share (tenant_id, account_id);
    select protect_tenant_rows('account_share');

    create function read_account_shares(line contract_service)
    returns table (account_id uuid, weight numeric) language plpgsql stable as $$
    declare
      known integer;
    begin
      if line.deleted_at is not null or coalesce(jsonb_typeof(line.account_map), '') <> 'object'
      then
        return;
      end if;
      if exists (
        select from jsonb_each_text(line.account_map) as given (id, share)
        where id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          or coalesce(share, '') !~ '^[0-9]{1,38}([.][0-9]{1,38}){0,1}$'
      ) then
        return;
      end if;
      if exists (
        select from jsonb_each_text(line.account_map) as given (id, share)
        where share::numeric = 0
        union all
        select from jsonb_each_text(line.account_map) as given (id, share) left join account
          on account.tenant_id = line.tenant_id and account.id = given.id::uuid
          and account.deleted_at is null
        where account.id is null
      ) then
        return;
      end if;
      return query select given.id::uuid, sum(given.share::numeric)
        from jsonb_each_text(line.account_map) as given (id, share) group by 1;
    end $$;

    create function keep_account_shares() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        delete from account_share
        where tenant_id = new.tenant_id and contract_service_id = new.id;
      end if;
      insert into account_share (tenant_id, contract_service_id, account_id, weight)
      select new.tenant_id, new.id, share.account_id, share.weight
      from read_account_shares(new) as share;
      return null;
    end $$;
    create trigger keep_account_shares_inserted after insert on contract_service
      for each row when (new.account_map is not null) execute function keep_account_shares();
    create trigger keep_account_shares_changed after update on contract_service
      for each row when (
        old.account_map is distinct from new.account_map
        or old.deleted_at is distinct from new.deleted_at
      ) execute function keep_account_shares();

    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into account_share (tenant_id, contract_service_id, account_id, weight)
        select line.tenant_id, line.id, share.account_id, share.weight
        from contract_service as line, read_account_shares(line) as share
        where line.tenant_id = tenant and line.account_map is not null;
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;

    -- Null where one account bears all.
    alter table rated_transaction
      add column share_from numeric,
      add column share_to numeric,
      add column share_of numeric,
      -- Of all who share it.
      add column shared_amount numeric;
    alter table rated_dimension
      add column shared_volume numeric,
      add column shared_amount numeric;
    -- Names who bore it, where several accounts did: a period is not charged again to others.
    alter table recurring_charge add column shared_by uuid;
    -- Whether anything of a tenant may be shared: its billing runs look at parts then.
    create index rating_plan_shared on rating_plan (tenant_id) where plan -> 'shares' is not null;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop index rating_plan_shared;
    alter table recurring_charge drop column shared_by;
    alter table rated_dimension drop column shared_volume, drop column shared_amount;
    alter table rated_transaction drop column share_from, drop column share_to,
      drop column share_of, drop column shared_amount;
    drop trigger keep_account_shares_changed on contract_service;
    drop trigger keep_account_shares_inserted on contract_service;
    drop function keep_account_shares, read_account_shares;
    drop table account_share;
  `);
}
