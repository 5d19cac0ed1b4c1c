import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import type { Identity } from './authenticate.js';

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
  /** Null: it is valid until it is revoked. */
  readonly expiresAt: Date | null;
  /** Who made it, as the audit names them; null: that was not kept. */
  readonly madeBy: string | null;
}

/** What may be shown of a key: never its secret. */
export type AccessKey = Omit<AccessKeyRow, 'secretHash'> & {
  /** To the minute; null: never. */
  readonly usedAt: Date | null;
};

export interface AccessKeyRequest {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly name: string | null;
  /** Null or left out: it is valid until it is revoked. */
  readonly expiresAt?: Date | null;
  readonly madeBy?: string;
}

/** A random secret needs no slow hash: it cannot be guessed. */
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Whether a bearer value has the form of an access key, so that it is no JWT. */
export function isAccessKey(bearer: string): boolean {
  return bearer.startsWith(`${prefix}_`);
}

/** A new key of the form `dbk_<id>_<secret>`; this is the only time that it can be read. */
export function newAccessKey() {
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  return { id, key: `${prefix}_${id}_${secret}`, secretHash: hashOf(secret) };
}

/** Makes a key, as the owner's login alone may: others are made by `credentials/tenant-keys.ts`. */
export async function createAccessKey(db: Knex, request: AccessKeyRequest): Promise<string> {
  const { key, ...stored } = newAccessKey();
  await db('accessKey').insert({ ...stored, ...request });
  return key;
}

/** The id within a key. */
export const accessKeyId = (key: string): string => key.split('_')[1] ?? '';

/**
 * The owner of a key, and whether the tenant is suspended; undefined for a key that is unknown or
 * revoked. Its end is looked at with every use (access/authenticate.ts).
 */
export async function findAccessKey(
  db: Knex,
  key: string,
): Promise<{ readonly identity: Identity; readonly isSuspended: boolean } | undefined> {
  const [, id, ...rest] = key.split('_');
  const secret = rest.join('_');
  if (id === undefined || !/^[0-9a-f]{16}$/.test(id)) return undefined;
  const row = await db('accessKey')
    .leftJoin('tenant', 'tenant.id', 'accessKey.tenantId')
    .where('accessKey.id', id)
    .whereNull('accessKey.revokedAt')
    .first<(AccessKeyRow & { suspendedAt: Date | null }) | undefined>(
      'accessKey.*',
      'tenant.suspendedAt',
    );
  if (!row || !timingSafeEqual(row.secretHash, hashOf(secret))) return undefined;
  const { tenantId, orgId, roles, expiresAt: endsAt } = row;
  return {
    identity: {
      tenantId,
      orgId,
      roles,
      subject: `key:${id}`,
      credential: { kind: 'accessKey', id, kid: null, endsAt },
    },
    isSuspended: row.suspendedAt !== null,
  };
}

/** Minimum time between two updates of a key's `usedAt` by one process. */
const noteMs = 60_000;

/** Records the use of keys, at most once a minute and without delaying the request. */
export interface KeyUses {
  note(identity: Identity, usedAt: Date): void;
}

export function openKeyUses(db: Knex): KeyUses {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: noteMs });
  return {
    note({ tenantId, credential }, usedAt) {
      if (!credential || noted.has(credential.id)) return;
      noted.set(credential.id, true);
      db.raw(
        `insert into access_key_use as known (access_key_id, tenant_id, used_at) values (?, ?, ?)
         on conflict (access_key_id) do update set used_at = excluded.used_at
         where known.used_at < excluded.used_at - interval '1 minute'`,
        [credential.id, tenantId, usedAt],
        // A failed update is made up for by a later use.
      ).catch(() => noted.delete(credential.id));
    },
  };
}

/** The keys of a tenant, newest first. */
export const listAccessKeys = (db: Knex, tenantId: string): Promise<AccessKey[]> =>
  keysOf(db, tenantId);

/** A page of them, and how many there are. */
export async function pageOfAccessKeys(
  db: Knex,
  tenantId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly items: readonly AccessKey[]; readonly total: number }> {
  const [items, [counted]] = await Promise.all([
    keysOf(db, tenantId).limit(limit).offset(offset),
    db('accessKey').where({ tenantId }).count<{ count: string }[]>({ count: '*' }),
  ]);
  return { items, total: Number(counted?.count ?? 0) };
}

function keysOf(db: Knex, tenantId: string) {
  return db('accessKey')
    .leftJoin('accessKeyUse', 'accessKeyUse.accessKeyId', 'accessKey.id')
    .select<AccessKey[]>(
      'accessKey.id',
      'accessKey.tenantId',
      'name',
      'orgId',
      'roles',
      'createdAt',
      'revokedAt',
      'expiresAt',
      'madeBy',
      'usedAt',
    )
    .where('accessKey.tenantId', tenantId)
    .orderBy([
      { column: 'createdAt', order: 'desc' },
      { column: 'accessKey.id', order: 'desc' },
    ]);
}

/** Revokes a key and returns its tenant; undefined when there is no valid key of that id. */
export async function revokeAccessKey(db: Knex, id: string): Promise<string | undefined> {
  const [revoked] = await db('accessKey')
    .where({ id })
    .whereNull('revokedAt')
    .update({ revokedAt: db.fn.now() })
    .returning<{ tenantId: string }[]>('tenantId');
  return revoked?.tenantId;
}
