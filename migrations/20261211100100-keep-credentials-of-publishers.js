/** With what each version was published: whether its publisher still may is asked when it calls. */
export async function up(knex) {
  await knex.raw(`
    alter table workflow_version
      -- accessKey or token; null of what was published before, which calls nothing.
      add column credential_kind text,
      -- Id of the key, or jti of the token.
      add column credential_id text,
      add column credential_kid text,
      -- What a user allowed an OAuth client.
      add column grant_id uuid;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table workflow_version drop column credential_kind, drop column credential_id,
      drop column credential_kid, drop column grant_id;
  `);
}
