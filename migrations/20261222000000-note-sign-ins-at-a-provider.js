/**
 * Who allowed a client something after signing in at the provider of an organization (OpenID Connect):
 * the provider, who it is there, and which session. What the provider ends is found by these.
 */
export async function up(knex) {
  await knex.raw(`
    alter table oauth_grant
      add column oidc_issuer text,
      add column oidc_sub text,
      add column oidc_sid text;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table oauth_grant
      drop column oidc_issuer, drop column oidc_sub, drop column oidc_sid;
  `);
}
