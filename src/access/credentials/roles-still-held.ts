import type { Knex } from 'knex';
import type { CredentialRef } from '../../kernel/scope.js';
import { grantStands } from '../token-revocations.js';

/** Whoever published something that acts for them later. */
export interface Publisher {
  readonly tenantId: string;
  /** What they might do then. */
  readonly roles: readonly string[];
  readonly credential: CredentialRef;
}

/**
 * SQL that finds whether the credential still stands: not revoked, by itself, with its signing key or
 * with its grant. An access key that has expired may do nothing more; a token that has come to its end
 * is a session that is over, and nothing is taken from whoever had it (docs/decisions/0413).
 */
const standing = `
  select key_roles.roles, tenant.suspended_at is not null as "isSuspended",
    (:kind <> 'accessKey' or key_roles.roles is not null)
    and (:kind <> 'token' or (
      exists (select from signing_key where signing_key.kid = :kid)
      and not exists (select from token_revocation as revoked
        where revoked.jti = :id and revoked.tenant_id in (:tenantId, '*'))))
    and (:grantId::uuid is null or exists (
      select from oauth_grant as given where given.id = :grantId::uuid and ${grantStands})
    ) as "isStanding"
  from tenant
    left join access_key as key_roles on :kind = 'accessKey' and key_roles.id = :id
      and key_roles.tenant_id = tenant.id and key_roles.revoked_at is null
      and (key_roles.expires_at is null or key_roles.expires_at > :now)
  where tenant.id = :tenantId`;

interface Found {
  readonly roles: readonly string[] | null;
  readonly isSuspended: boolean;
  readonly isStanding: boolean;
}

/** What of their roles somebody still has: none, where their credential was taken from them. */
export async function findRolesStillHeld(
  db: Knex,
  { tenantId, roles, credential }: Publisher,
  now: Date,
): Promise<{ readonly roles: readonly string[]; readonly isSuspended: boolean }> {
  const { rows } = await db.raw<{ rows: readonly Found[] }>(standing, {
    ...credential,
    tenantId,
    now,
  });
  const [found] = rows;
  if (found?.isStanding !== true) return { roles: [], isSuspended: found?.isSuspended ?? false };
  const held = found.roles;
  return {
    roles: held === null ? roles : roles.filter((role) => held.includes(role)),
    isSuspended: found.isSuspended,
  };
}
