import type { Knex } from 'knex';
import { sqlRows } from '../models/db/sql-rows.js';
import { tokenLifeCeilingSeconds } from '../platform/config/config-forms.js';
import type { Identity } from './authenticate.js';

/** A token that was revoked by its id (`jti`) before its end. */
export interface TokenRevocation {
  /** `*`: a token of any tenant, which an operator revoked by its id alone. */
  readonly tenantId: string;
  readonly jti: string;
  readonly revokedAt: Date;
  readonly revokedBy: string;
  /** Until when it is kept: no token lives longer. */
  readonly expiresAt: Date;
}

/** SQL: the grant `given` was not revoked, nor what its user signed in with. */
export const grantStands = `given.revoked_at is null
    and (given.access_key_id is null or exists (
      select from access_key where access_key.id = given.access_key_id
        and access_key.revoked_at is null
        and (access_key.expires_at is null or access_key.expires_at > :now)))
    and (given.token_jti is null or not exists (
      select from token_revocation as revoked where revoked.jti = given.token_jti
        and revoked.tenant_id in (given.tenant_id, '*')))
    and (given.token_kid is null or exists (
      select from signing_key where signing_key.kid = given.token_kid))`;

/** SQL that finds a grant by its id while it stands and has not ended. */
const liveGrantOf = (grantId: string): string => `
  select from oauth_grant as given
  where given.id = ${grantId} and (given.ends_at is null or given.ends_at > :now) and ${grantStands}`;

const liveGrant = liveGrantOf(':grantId');

const isSuspended = `exists (
  select from tenant where tenant.id = :tenantId and tenant.suspended_at is not null)`;

const isKnown = 'exists (select from tenant where tenant.id = :tenantId)';

interface Found {
  readonly isKnown: boolean;
  readonly isSuspended: boolean;
  readonly isTrusted: boolean;
}

/** Why a credential with a valid signature or secret is refused. */
export type CredentialFault = 'revoked' | 'suspended' | 'unknown';

function faultOf({
  rows: [found],
}: {
  readonly rows: readonly Found[];
}): CredentialFault | undefined {
  if (found?.isKnown !== true) return 'unknown';
  if (found.isSuspended) return 'suspended';
  return found.isTrusted ? undefined : 'revoked';
}

/**
 * Why a token with a valid signature is refused: its tenant does not exist or is suspended, or it
 * was revoked by its id, with its signing key, or with its grant.
 */
export async function findTokenFault(
  db: Knex,
  { tenantId, credential, grant }: Identity,
  now: Date,
): Promise<CredentialFault | undefined> {
  const sql = `select ${isKnown} as "isKnown", ${isSuspended} as "isSuspended",
    exists (select from signing_key where kid = :kid)
    and not exists (
      select from token_revocation where jti = :jti and tenant_id in (:tenantId, '*'))
    ${grant ? `and exists (${liveGrant})` : ''} as "isTrusted"`;
  const { id: jti = '', kid = null } = credential ?? {};
  return faultOf(await db.raw(sql, { tenantId, jti, kid, now, grantId: grant?.id ?? null }));
}

/** SQL for one of many credentials: whether it was taken back, or its tenant was. */
const isTakenBack = `
  not exists (
    select from tenant where tenant.id = asked.tenant_id and tenant.suspended_at is null)
  or asked.kind = 'accessKey' and not exists (
    select from access_key where access_key.id = asked.id and access_key.revoked_at is null)
  or asked.kind = 'token' and not exists (
    select from signing_key where signing_key.kid = asked.kid)
  or asked.kind = 'token' and exists (
    select from token_revocation as revoked where revoked.jti = asked.id
      and revoked.tenant_id in (asked.tenant_id, '*'))
  or asked.grant_id is not null and not exists (${liveGrantOf('asked.grant_id')})`;

/** The places of those whose credential, grant or tenant was taken back; found with one statement. */
export async function endedCredentials(
  db: Knex,
  identities: readonly Identity[],
  now: Date,
): Promise<readonly number[]> {
  const asked = identities.map(({ tenantId, credential, grant }, at) => ({
    at,
    tenant_id: tenantId,
    kind: credential?.kind,
    id: credential?.id,
    kid: credential?.kid,
    grant_id: grant?.id,
  }));
  const rows = await sqlRows<{ at: number }>(
    db,
    `select asked.at from jsonb_to_recordset(:asked::jsonb)
       as asked (at int, tenant_id text, kind text, id text, kid text, grant_id uuid)
     where ${isTakenBack}`,
    { asked: JSON.stringify(asked), now },
  );
  return rows.map(({ at }) => at);
}

/** Why codes and refresh tokens of a grant are refused, as `findTokenFault` has it. */
export async function findGrantFault(
  db: Knex,
  { id: grantId, tenantId }: { readonly id: string; readonly tenantId: string },
  now: Date,
): Promise<CredentialFault | undefined> {
  const sql = `select ${isKnown} as "isKnown", ${isSuspended} as "isSuspended", exists (${liveGrant}) as "isTrusted"`;
  return faultOf(await db.raw(sql, { tenantId, grantId, now }));
}

/**
 * Revokes a token by its id; repeated calls change nothing. Also deletes revocations of tokens that
 * have expired.
 */
export async function revokeTokenById(
  trx: Knex,
  { tenantId, jti, revokedAt, revokedBy }: Omit<TokenRevocation, 'expiresAt'>,
): Promise<TokenRevocation> {
  await trx('tokenRevocation').where('expiresAt', '<', revokedAt).delete();
  const expiresAt = new Date(revokedAt.getTime() + tokenLifeCeilingSeconds * 1000);
  await trx('tokenRevocation')
    .insert({ tenantId, jti, revokedAt, revokedBy, expiresAt })
    .onConflict(['tenant_id', 'jti'])
    .ignore();
  const kept = await trx<TokenRevocation>('tokenRevocation').where({ tenantId, jti }).first();
  return kept ?? { tenantId, jti, revokedAt, revokedBy, expiresAt };
}

/** A page of the tokens that a tenant revoked, the latest first, and how many there are. */
export async function listTokenRevocations(
  db: Knex,
  tenantId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly items: readonly TokenRevocation[]; readonly total: number }> {
  const of = () => db<TokenRevocation>('tokenRevocation').where({ tenantId });
  const order = [{ column: 'revokedAt', order: 'desc' }, { column: 'jti' }] as const;
  const [items, [counted]] = await Promise.all([
    of()
      .orderBy([...order])
      .limit(limit)
      .offset(offset),
    of().count({ count: '*' }),
  ]);
  return { items, total: Number(counted?.['count'] ?? 0) };
}
