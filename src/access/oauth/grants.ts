import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import type { Identity } from '../authenticate.js';
import type { Person } from '../oidc/person-by-claims.js';
import { recordSecurityEvent } from '../security-events.js';
import { decideFlow, type PendingFlow } from './pending-authorization.js';
import { hashOf, newSecret } from './oauth-secret.js';

/** What a user allowed a client; every code and token of it is revoked with it. */
export interface Grant {
  readonly id: string;
  readonly tenantId: string;
  readonly clientId: string;
  readonly subject: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly resource: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The end of the credential that the user signed in with; null: it has none. */
  readonly endsAt: Date | null;
  readonly revokedAt: Date | null;
  /** The provider at which the user signed in; null: a credential of this instance. */
  readonly oidcIssuer: string | null;
}

/** An authorization code or refresh token as it is stored, with its grant. */
interface StoredSecret {
  readonly hash: Buffer;
  readonly grantId: string;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
}
export type StoredCode = StoredSecret & {
  readonly redirectUri: string;
  readonly codeChallenge: string;
};
export type WithGrant<T extends StoredSecret> = T & { readonly grant: Grant };
export type StoredRefreshToken = StoredSecret;

const codeLifetimeSeconds = 5 * 60;
/** Counted anew from each refresh: a client that is not used for a month has to ask again. */
const grantLifetimeSeconds = 30 * 86_400;

const after = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000);

/** The expiry of something with a lifetime, limited by that of its credential. */
const endOf = (now: Date, seconds: number, endsAt: Date | null): Date => {
  const end = after(now, seconds);
  return endsAt !== null && endsAt < end ? endsAt : end;
};

/** Who allows a client something: a user with a credential of this instance, or of a provider. */
export type Granter = Pick<Identity, 'tenantId' | 'roles' | 'subject' | 'orgId' | 'credential'> & {
  /** Who signed in at the provider of an organization, and until when that holds. */
  readonly signedIn?: Person['provider'] & { readonly endsAt: Date };
};

/** What the user signed in with, which a grant stores, since the grant ends with it. */
const madeWith = ({ credential, signedIn }: Granter) => ({
  accessKeyId: credential?.kind === 'accessKey' ? credential.id : null,
  tokenJti: credential?.kind === 'token' ? credential.id : null,
  tokenKid: credential?.kid ?? null,
  endsAt: signedIn?.endsAt ?? credential?.endsAt ?? null,
  oidcIssuer: signedIn?.issuer ?? null,
  oidcSub: signedIn?.sub ?? null,
  oidcSid: signedIn?.sid ?? null,
});

/**
 * Decides a flow in favour of its client and returns the authorization code, which nobody can read
 * again; undefined when the flow was decided before.
 */
export async function allowFlow(
  db: Knex,
  flow: PendingFlow,
  granter: Granter,
  now: Date,
): Promise<string | undefined> {
  const code = newSecret();
  const grantId = newId();
  return db.transaction(async (trx) => {
    if (!(await decideFlow(trx, flow))) return undefined;
    const { clientId, scopes, resource } = flow;
    const { tenantId, orgId, roles, subject, signedIn } = granter;
    const made = madeWith(granter);
    await trx('oauthClient').where({ id: clientId }).update({ usedAt: now });
    await trx('oauthGrant').insert({
      id: grantId,
      tenantId,
      clientId,
      subject,
      orgId,
      roles,
      scopes,
      resource,
      ...made,
      createdAt: now,
      expiresAt: endOf(now, grantLifetimeSeconds, made.endsAt),
    });
    const { redirectUri, codeChallenge } = flow;
    const expiresAt = after(now, codeLifetimeSeconds);
    await trx('oauthCode').insert({
      hash: hashOf(code),
      tenantId,
      grantId,
      redirectUri,
      codeChallenge,
      expiresAt,
    });
    await recordSecurityEvent(trx, {
      tenantId,
      actor: subject,
      entity: 'oauthGrant',
      entityKey: grantId,
      action: 'approve',
      details: {
        clientId,
        scopes,
        redirectUri,
        endsAt: made.endsAt,
        ...(signedIn && { issuer: signedIn.issuer, sub: signedIn.sub }),
      },
    });
    return code;
  });
}

async function findSecret<T extends StoredSecret>(
  db: Knex,
  table: 'oauthCode' | 'oauthRefreshToken',
  secret: string,
): Promise<WithGrant<T> | undefined> {
  const row = (await db(table)
    .where({ hash: hashOf(secret) })
    .first()) as T | undefined;
  if (!row) return undefined;
  const grant = await db<Grant>('oauthGrant').where({ id: row.grantId }).first();
  return grant && { ...row, grant };
}

export const findCode = (db: Knex, code: string): Promise<WithGrant<StoredCode> | undefined> =>
  findSecret(db, 'oauthCode', code);

export const findRefreshToken = (
  db: Knex,
  token: string,
): Promise<WithGrant<StoredRefreshToken> | undefined> => findSecret(db, 'oauthRefreshToken', token);

/**
 * Consumes a secret; false if it was consumed before, and longer ago than the leeway. Concurrent calls
 * are serialized; without a leeway one of them counts, also where it came after another and is first.
 */
async function consume(
  trx: Knex,
  table: 'oauthCode' | 'oauthRefreshToken',
  hash: Buffer,
  { now, leewayMs }: { readonly now: Date; readonly leewayMs: number },
): Promise<boolean> {
  const consumable = (query: Knex.QueryBuilder): void => {
    void query.whereNull('consumedAt');
    if (leewayMs > 0) void query.orWhere('consumedAt', '>', new Date(now.getTime() - leewayMs));
  };
  const count = await trx(table)
    .where({ hash })
    .where(consumable)
    // The first time counts: the leeway does not begin again.
    .update({ consumedAt: trx.raw('coalesce(consumed_at, ?::timestamptz)', [now]) });
  return count > 0;
}

/** The exchange of a secret, for a refresh token if its client may have one. */
interface Exchange {
  readonly refreshToken: string | undefined;
}

/** Records a client's first tokens; refreshes are not recorded. */
const recordExchange = (trx: Knex, { id, tenantId, subject, clientId }: Grant): Promise<void> =>
  recordSecurityEvent(trx, {
    tenantId,
    actor: subject,
    entity: 'oauthGrant',
    entityKey: id,
    action: 'exchange',
    details: { clientId },
  });

/**
 * Exchanges a code or refresh token for a new refresh token (RFC 6749, sections 4.1.3 and 6); both
 * happen or neither. Undefined when it was exchanged before: then its grant is to be revoked.
 */
export async function exchangeSecret(
  db: Knex,
  kind: 'code' | 'refreshToken',
  { hash, grant }: WithGrant<StoredSecret>,
  {
    mayRefresh,
    now,
    leewayMs = 0,
  }: { readonly mayRefresh: boolean; readonly now: Date; readonly leewayMs?: number },
): Promise<Exchange | undefined> {
  const table = kind === 'code' ? 'oauthCode' : 'oauthRefreshToken';
  return db.transaction(async (trx) => {
    if (!(await consume(trx, table, hash, { now, leewayMs }))) return undefined;
    if (kind === 'code') await recordExchange(trx, grant);
    if (!mayRefresh) return { refreshToken: undefined };
    const refreshToken = newSecret();
    const { id: grantId, tenantId, endsAt } = grant;
    const expiresAt = endOf(now, grantLifetimeSeconds, endsAt);
    await trx('oauthRefreshToken').insert({
      hash: hashOf(refreshToken),
      tenantId,
      grantId,
      expiresAt,
    });
    await trx('oauthGrant').where({ id: grantId }).update({ expiresAt });
    return { refreshToken };
  });
}

export const findGrant = (db: Knex, id: string): Promise<Grant | undefined> =>
  db<Grant>('oauthGrant').where({ id }).first();

/** Ends a grant with every token of it, access tokens too; false when it was revoked before. */
export async function revokeGrant(
  db: Knex,
  id: string,
  revokedAt: Date,
  revokedReason: string,
): Promise<boolean> {
  const count = await db('oauthGrant')
    .where({ id })
    .whereNull('revokedAt')
    .update({ revokedAt, revokedReason });
  return count > 0;
}

/** Ends a grant and records it in the audit: `replay` if a secret was used twice. */
export const endGrant = (
  db: Knex,
  { id, tenantId, subject, clientId }: Grant,
  revokedAt: Date,
  { action, reason }: { readonly action: 'replay' | 'revoke'; readonly reason: string },
): Promise<void> =>
  db.transaction(async (trx) => {
    if (!(await revokeGrant(trx, id, revokedAt, reason))) return;
    await recordSecurityEvent(trx, {
      tenantId,
      actor: subject,
      entity: 'oauthGrant',
      entityKey: id,
      action,
      details: { clientId, reason },
    });
  });
