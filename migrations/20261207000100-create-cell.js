/**
 * What the home database knows of the cells that `CELLS` names: since when there is one, and since when
 * no tenant is placed in it any more.
 */
export async function up(knex) {
  await knex.raw(`
    create table cell (
      name text not null,
      added_at timestamptz not null default now(),
      draining_since timestamptz,
      constraint cell_pkey primary key (name)
    );
  `);
}

export async function down(knex) {
  await knex.raw('drop table cell');
}
