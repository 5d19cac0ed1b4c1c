import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import {
  findAuditCut,
  findUnfitErasure,
  firstLink,
  listSealedEntries,
  listUnsealedEntries,
} from '../../models/access/audit-chain.js';

const pageSize = 5_000;
/** How long an entry may lack a seal after a long transaction has committed it. */
const graceMs = 5_000;

/** How the chain of a tenant stands. */
export interface AuditChain {
  readonly entries: number;
  /** Entries before them that retention has removed (docs/decisions/0351). */
  readonly removed: number;
  /**
   * The hash of the newest entry. Stored elsewhere, it proves later that the end was not cut off.
   */
  readonly head: string;
  /** The first mismatch in the chain; null: the chain is intact. */
  readonly fault: string | null;
}

async function walkSeals(db: Knex, tenantId: string): Promise<AuditChain> {
  const cut = await findAuditCut(db, tenantId);
  const removed = Number(cut?.position ?? 0);
  let head = cut?.hash ?? (await firstLink(db, tenantId));
  let entries = 0;
  const end = (fault: string | null): AuditChain => ({ entries, removed, head, fault });
  if (cut && cut.recordedHash !== cut.hash) {
    return end(`the audit has not recorded that it was cut at position ${removed}`);
  }
  for (;;) {
    const after = String(removed + entries);
    const page = await listSealedEntries(db, tenantId, { after, limit: pageSize });
    for (const { position, auditId, previousHash, hash, fits } of page) {
      const at = `entry ${auditId} at position ${position}`;
      const expected = String(removed + entries + 1);
      if (position !== expected) return end(`the seal at position ${expected} is missing`);
      if (previousHash !== head) return end(`${at}: it does not follow the entry before it`);
      if (fits === null) return end(`${at}: it is missing`);
      if (!fits) return end(`${at}: it was changed`);
      entries += 1;
      head = hash;
    }
    if (page.length < pageSize) break;
  }
  const unfit = await findUnfitErasure(db, tenantId);
  return end(unfit === null ? null : `entry ${unfit} did not record what was erased in its name`);
}

async function findUnsealed(db: Knex, tenantId: string): Promise<string | null> {
  const before = await listUnsealedEntries(db, tenantId);
  if (before.length === 0) return null;
  await wait(graceMs);
  const after = new Set(await listUnsealedEntries(db, tenantId));
  const left = before.filter((id) => after.has(id));
  if (left.length === 0) return null;
  return `entry ${left[0]} has no seal for more than a minute: is a worker running?`;
}

/**
 * Verifies the chain of a tenant's audit (`*`: events without a tenant) and returns the first
 * mismatch: an entry that was changed or removed, a seal that is missing or was changed, or an
 * entry that stays without a seal.
 */
export async function verifyAuditChain(db: Knex, tenantId: string): Promise<AuditChain> {
  const walk = await walkSeals(db, tenantId);
  return walk.fault === null ? { ...walk, fault: await findUnsealed(db, tenantId) } : walk;
}
