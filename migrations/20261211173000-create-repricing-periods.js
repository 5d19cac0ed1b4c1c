/**
 * What minimums, maximums and commitments would make of periods in a what-if (docs/decisions/0386).
 * Scratch, as the other tables of repricings: it goes with old ones.
 */
export async function up(knex) {
  await knex.raw(`
    create table repricing_period (
      tenant_id text collate "C" not null,
      repricing_id uuid not null,
      account_id uuid not null,
      -- That of the adjustment, or of a change that tries one.
      adjustment_id uuid not null,
      period_start date not null,
      -- How much more the charges of the scope come to than in the books.
      difference numeric not null default 0,
      -- Set with all that follows when all portions are done.
      is_done boolean not null default false,
      is_tried boolean,
      kind text,
      value numeric,
      currency text,
      period_end date,
      spent_before numeric,
      spent_after numeric,
      -- What the adjustment adds or takes off; of one that is tried, before is 0.
      before numeric,
      after numeric,
      constraint repricing_period_pkey
        primary key (tenant_id, repricing_id, account_id, adjustment_id, period_start)
    );
    select protect_tenant_rows('repricing_period');
    create index repricing_period_waiting on repricing_period (tenant_id, repricing_id, account_id)
      where not is_done;
  `);
}

export async function down(knex) {
  await knex.raw('drop table repricing_period');
}
