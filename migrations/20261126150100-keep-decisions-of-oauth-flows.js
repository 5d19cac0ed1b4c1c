/**
 * What is asked for at the authorization endpoint travels sealed with the browser; a row is written
 * when its user decides, so that it is decided once. The table of pending flows is not used any more
 * and goes with a later version: processes of the one before may still write to it.
 */
export async function up(knex) {
  await knex.raw(`
    create table oauth_decision (
      id uuid primary key,
      expires_at timestamptz not null
    );
    create index oauth_decision_expires on oauth_decision (expires_at);
    delete from oauth_flow;
  `);
}

export async function down(knex) {
  await knex.raw(`drop table oauth_decision`);
}
