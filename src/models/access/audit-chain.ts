import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** An audit entry with its seal. */
export interface SealedEntry {
  readonly position: string;
  readonly auditId: string;
  readonly previousHash: string;
  readonly hash: string;
  /**
   * Whether the entry as it is now is the one that was sealed, or what an erasure has left of it
   * (docs/decisions/0354); null: there is no such entry any more.
   */
  readonly fits: boolean | null;
}

/**
 * Seals entries of the audit that have no seal yet, at most `entriesMax`, in the chains of all
 * tenants; returns how many. Does nothing while another process is sealing. The database computes
 * the hashes (`seal_audit`, `audit_hash`: migrations/*chain-audit.js).
 */
export async function sealAudit(platform: Knex, entriesMax: number): Promise<number> {
  const rows = await sqlRows<{ sealed: number }>(platform, 'select seal_audit(?) as sealed', [
    entriesMax,
  ]);
  return rows[0]?.sealed ?? 0;
}

/**
 * The initial hash of a tenant's chain, which seals its first entry in place of a previous hash.
 */
export async function firstLink(db: Knex, tenantId: string): Promise<string> {
  const rows = await sqlRows<{ link: string }>(
    db,
    `select encode(sha256(convert_to(?, 'UTF8')), 'hex') as link`,
    [tenantId],
  );
  return rows[0]?.link ?? '';
}

/** Where a chain begins whose oldest part retention has removed. */
export interface AuditCut {
  /** Of the last entry that was removed. */
  readonly position: string;
  readonly hash: string;
  /** The hash that the audit recorded with the cut; null: it recorded none at this position. */
  readonly recordedHash: string | null;
}

/** Undefined: nothing was cut off. */
export async function findAuditCut(db: Knex, tenantId: string): Promise<AuditCut | undefined> {
  const [cut] = await sqlRows<AuditCut>(
    db,
    `select cut.position, encode(cut.hash, 'hex') as "hash", (
       select after ->> 'hash' from audit
       where audit.tenant_id = cut.tenant_id and entity = 'audit' and action = 'delete'
         and (after ->> 'upToPosition')::bigint = cut.position
       order by id desc limit 1
     ) as "recordedHash"
     from audit_cut as cut where cut.tenant_id = ?`,
    [tenantId],
  );
  return cut;
}

/** The next seals of a tenant's chain with the whether their entries fit. */
export async function listSealedEntries(
  db: Knex,
  tenantId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<SealedEntry[]> {
  const rows = await sqlRows<SealedEntry>(
    db,
    `select seal.position, seal.audit_id as "auditId",
       encode(seal.previous_hash, 'hex') as "previousHash", encode(seal.hash, 'hex') as "hash",
       case when entry.id is not null then
         audit_fits(seal.hash, seal.previous_hash, seal.position, entry) end as "fits"
     from audit_seal as seal left join audit as entry
       on entry.tenant_id = seal.tenant_id and entry.id = seal.audit_id
     where seal.tenant_id = ? and seal.position > ? order by seal.position limit ?`,
    [tenantId, after, limit],
  );
  return rows;
}

/**
 * The entry of the audit that should have recorded what an erasure did to others, and has not; null:
 * there is none.
 */
export async function findUnfitErasure(db: Knex, tenantId: string): Promise<string | null> {
  const [row] = await sqlRows<{ id: string }>(
    db,
    `select done.recorded_in as id from (
       select recorded_in,
         encode(sha256(string_agg(hash, ''::bytea order by audit_id)), 'hex') as digest
       from audit_redaction where tenant_id = ? group by recorded_in
     ) as done left join audit as entry on entry.tenant_id = ? and entry.id = done.recorded_in
       and entry.entity = 'account' and entry.action = 'erase'
     where entry.after ->> 'digest' is distinct from done.digest
       -- Retention removes it after the entries that it is about.
       and exists (
         select from audit_redaction as part join audit as about
           on about.tenant_id = part.tenant_id and about.id = part.audit_id
         where part.tenant_id = ? and part.recorded_in = done.recorded_in
       )
     limit 1`,
    [tenantId, tenantId, tenantId],
  );
  return row?.id ?? null;
}

/** Ids of some entries older than a minute that still have no seal. */
export async function listUnsealedEntries(db: Knex, tenantId: string): Promise<string[]> {
  const rows = await sqlRows<{ id: string }>(
    db,
    `select entry.id from audit as entry
     where entry.tenant_id = ? and entry.at < now() - interval '1 minute' and not exists (
       select from audit_seal as seal
       where seal.tenant_id = entry.tenant_id and seal.audit_id = entry.id)
     order by entry.id limit 1000`,
    [tenantId],
  );
  return rows.map(({ id }) => id);
}
