/** Discounts, minimums, maximums and commitments (docs/decisions/0395). */
const trigger = (event, rows) =>
  `create trigger raise_rating_version_${event}_${rows} after ${event} on adjustment
     referencing ${rows} table as changed for each statement execute function raise_adjusted();`;

export async function up(knex) {
  await knex.raw(`
    create table adjustment (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      -- Exactly one of them.
      account_id uuid,
      contract_id uuid,
      contract_service_id uuid,
      kind text not null,
      -- Percent, or an amount of the currency.
      value numeric not null,
      -- Null: a percentage, in every currency.
      currency text,
      -- Null: of every service.
      service_id uuid,
      -- Null of discounts, which are of each charge.
      period text,
      -- Days, [from, to).
      from_date date not null,
      to_date date,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint adjustment_pkey primary key (tenant_id, id),
      constraint adjustment_scope check (num_nonnulls(account_id, contract_id, contract_service_id) = 1),
      constraint adjustment_kind check (
        kind in ('discountPercent', 'discountAmount', 'minimum', 'maximum', 'commitment')
      )
    );
    create index adjustment_account on adjustment (tenant_id, account_id)
      where account_id is not null;
    create index adjustment_contract on adjustment (tenant_id, contract_id)
      where contract_id is not null;
    create index adjustment_line on adjustment (tenant_id, contract_service_id)
      where contract_service_id is not null;
    select protect_tenant_rows('adjustment'), audit_table('adjustment');

    -- Rating forgets what it knows of the account whose charges are adjusted.
    create function raise_adjusted() returns trigger language plpgsql as $$
    declare
      part record;
    begin
      for part in
        select tenant_id, array_agg(distinct account_id) filter (where account_id is not null) as accounts,
          array_agg(distinct contract_id) filter (where contract_id is not null) as contracts,
          array_agg(distinct contract_service_id) filter (where contract_service_id is not null) as lines
        from changed group by tenant_id
      loop
        if part.accounts is not null then
          perform raise_accounts(part.tenant_id, part.accounts);
        end if;
        if part.contracts is not null then
          perform raise_contracts(part.tenant_id, part.contracts);
        end if;
        if part.lines is not null then perform raise_lines(part.tenant_id, part.lines); end if;
      end loop;
      return null;
    end $$;
    ${trigger('insert', 'new')}
    ${trigger('update', 'new')}
    ${trigger('delete', 'old')}

    -- What discounts took off a charge; its amount is after them.
    alter table recurring_charge add column discount numeric not null default 0;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table recurring_charge drop column discount;
    drop table adjustment;
    drop function raise_adjusted;
  `);
}
