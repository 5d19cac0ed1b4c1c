/** What alerts have triggered, for the timeline of an account (docs/decisions/0382). */
export async function up(knex) {
  await knex.raw(`
    create table alert_trigger (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      alert_id uuid not null,
      -- As it was called then.
      name text not null,
      -- Null of a contract or a service, over all accounts.
      account_id uuid,
      wallet_id uuid,
      measure text not null,
      threshold numeric not null,
      value numeric not null,
      currency text,
      at timestamptz not null,
      constraint alert_trigger_pkey primary key (tenant_id, id)
    );
    create index alert_trigger_account on alert_trigger (tenant_id, account_id, at, id)
      where account_id is not null;
    select protect_tenant_rows('alert_trigger');
    create trigger append_only before update on alert_trigger
      for each row execute function refuse_change();
  `);
}

export async function down(knex) {
  await knex.raw('drop table alert_trigger');
}
