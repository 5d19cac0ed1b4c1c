import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Identity } from './identity.js';

const prefix = 'dbk';

interface AccessKeyRow {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string | null;
  readonly orgId: string | null;
  readonly roles: string[];
  readonly secretHash: Buffer;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** What may be shown of a key: never its secret. */
export type AccessKey = Omit<AccessKeyRow, 'secretHash'>;

export interface AccessKeyRequest {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly name: string | null;
}

/** A random secret needs no slow hash: it cannot be guessed (OAUTH.md, "Access keys"). */
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Whether a bearer value has the form of an access key, so that it is no JWT. */
export function isAccessKey(bearer: string): boolean {
  return bearer.startsWith(`${prefix}_`);
}

/** Makes a key of the form `dbk_<id>_<secret>`; this is the only time that it can be read. */
export async function createAccessKey(db: Knex, request: AccessKeyRequest): Promise<string> {
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  await db('accessKey').insert({ id, ...request, secretHash: hashOf(secret) });
  return `${prefix}_${id}_${secret}`;
}

/** The identity of a valid key, else undefined. */
export async function findAccessKey(db: Knex, key: string): Promise<Identity | undefined> {
  const [, id, ...rest] = key.split('_');
  const secret = rest.join('_');
  if (id === undefined || !/^[0-9a-f]{16}$/.test(id)) return undefined;
  const row = await db<AccessKeyRow>('accessKey').where({ id }).whereNull('revokedAt').first();
  if (!row || !timingSafeEqual(row.secretHash, hashOf(secret))) return undefined;
  return { tenantId: row.tenantId, orgId: row.orgId, roles: row.roles, subject: `key:${row.id}` };
}

/** The keys of a tenant, newest first. */
export async function listAccessKeys(db: Knex, tenantId: string): Promise<AccessKey[]> {
  return db<AccessKeyRow>('accessKey')
    .select('id', 'tenantId', 'name', 'orgId', 'roles', 'createdAt', 'revokedAt')
    .where({ tenantId })
    .orderBy('createdAt', 'desc');
}

/** Revokes a key; false when there is none of that id that is still valid. */
export async function revokeAccessKey(db: Knex, id: string): Promise<boolean> {
  const count = await db('accessKey')
    .where({ id })
    .whereNull('revokedAt')
    .update({ revokedAt: db.fn.now() });
  return count > 0;
}
