/** What maximums, minimums and commitments made of a period, as it was billed (docs/decisions/0396). */
export async function up(knex) {
  await knex.raw(`
    create table adjustment_charge (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      adjustment_id uuid not null,
      -- The billed account; what follows is the scope, as that of adjustments.
      account_id uuid not null,
      contract_id uuid,
      lineage_id uuid,
      service_id uuid,
      kind text not null,
      currency text not null,
      -- The days of the period, [start, end), cut where the adjustment or its contract ends.
      period_start date not null,
      period_end date not null,
      -- What the period had come to before it, and what it adds: below zero of a maximum.
      spent numeric not null,
      value numeric not null,
      amount numeric not null,
      -- What of it takes back credits that a maximum leaves no room for, and what went back to wallets.
      uncredited numeric not null default 0,
      returned numeric not null default 0,
      tax_code text,
      invoice_id uuid not null,
      invoice_item_id uuid not null,
      voided_at timestamptz,
      created_at timestamptz not null default now(),
      constraint adjustment_charge_pkey primary key (tenant_id, id)
    );
    create index adjustment_charge_account on adjustment_charge (tenant_id, account_id, period_start);
    create index adjustment_charge_invoice on adjustment_charge (tenant_id, invoice_id);
    select protect_tenant_rows('adjustment_charge');
  `);
}

export async function down(knex) {
  await knex.raw('drop table adjustment_charge');
}
