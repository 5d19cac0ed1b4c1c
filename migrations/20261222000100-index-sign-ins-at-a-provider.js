export const config = { transaction: false };

/** A provider that ends what somebody signed in to names him: his grants are found by that. */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists oauth_grant_oidc');
  await knex.raw(
    `create index concurrently oauth_grant_oidc on oauth_grant (oidc_issuer, oidc_sub)
      where oidc_issuer is not null`,
  );
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists oauth_grant_oidc');
}
