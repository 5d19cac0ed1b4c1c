/**
 * How many requests a tenant has made in the current minute, counted by all processes together
 * (document 2, section 8); the columns are those of rate-limiter-flexible.
 *
 * Unlogged, because it is written with every request: after a crash of the server all begin anew.
 */
export async function up(knex) {
  await knex.raw(`
    create unlogged table rate_limit (
      key text collate "C" primary key,
      points integer not null default 0,
      expire bigint
    ) with (fillfactor = 50);
  `);
}

export async function down(knex) {
  await knex.raw('drop table rate_limit');
}
