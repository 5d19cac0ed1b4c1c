import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { compareRows, prepareComparison, RowsDifferError } from './compare-rows.js';
import { withClients, type MovePlace } from './move-tenant.js';
import { listMovedTables, raiseSequences, readSequences, type MovedTable } from './moved-tables.js';
import { hasMark, writeMark } from './replication.js';
import { findFence, lowerFence, raiseFence, setFence } from './tenant-fence.js';

/** How long the target has for what was written before the fence. */
const catchUpMs = 5_000;
const lookMs = 5;

/** What a flip does in the home database: whether it is done, and how. */
export interface Directory {
  isFlipped(): Promise<boolean>;
  flip(): Promise<void>;
}

/**
 * Moves a tenant whose rows are copied: nothing is done for it between the fence and the flip of the
 * directory. Returns how long that was; undefined: something was under way that takes longer than a
 * moment, and nothing has changed. Until the flip, whatever fails leaves the tenant where it was.
 */
export function flipTenant(
  place: MovePlace,
  bound: string,
  directory: Directory,
): Promise<number | undefined> {
  const { tenantId } = place;
  return withClients(place, async (source, target) => {
    await Promise.all([prepareComparison(source), prepareComparison(target)]);
    const tables = await listMovedTables(source);
    const begun = performance.now();
    if (!(await directory.isFlipped())) {
      if ((await findFence(source, tenantId)) === undefined) {
        if (!(await raiseFence(source, tenantId))) return undefined;
      }
      try {
        await catchUpAndCompare(source, target, { tenantId, bound, tables });
        await directory.flip();
      } catch (error) {
        // The answer to the flip may have been lost.
        if (!(await directory.isFlipped())) {
          await lowerFence(source, tenantId);
          throw error;
        }
      }
    }
    await setFence(source, tenantId, 'moved');
    await lowerFence(target, tenantId);
    return performance.now() - begun;
  });
}

/** Seals all entries of a tenant; another process may be sealing, and then does it. */
async function sealAll(source: pg.Client, tenantId: string): Promise<void> {
  for (const deadline = performance.now() + catchUpMs; ; await wait(lookMs)) {
    await source.query('select seal_audit(2000)');
    const { rows } = await source.query(
      `select 1 from audit where tenant_id = $1
         and id > (select coalesce(max(audit_id), 0) - 10000 from audit_seal where tenant_id = $1)
         and not exists (select from audit_seal as seal
           where seal.tenant_id = audit.tenant_id and seal.audit_id = audit.id) limit 1`,
      [tenantId],
    );
    if (rows.length === 0) return;
    if (performance.now() > deadline) throw new Error('The audit cannot be sealed.');
  }
}

/** Behind the fence: the last rows arrive, and what both have is compared. */
async function catchUpAndCompare(
  source: pg.Client,
  target: pg.Client,
  {
    tenantId,
    bound,
    tables,
  }: { readonly tenantId: string; readonly bound: string; readonly tables: readonly MovedTable[] },
): Promise<void> {
  // The chain of the audit is closed here: the target seals what is written there.
  await sealAll(source, tenantId);
  const mark = randomUUID();
  await writeMark(source, tenantId, mark);
  for (const deadline = performance.now() + catchUpMs; ; await wait(lookMs)) {
    if (await hasMark(target, tenantId, mark)) break;
    if (performance.now() > deadline) {
      throw new Error('The target does not catch up with the source.');
    }
  }
  await raiseSequences(target, await readSequences(source));
  const differences = await compareRows(source, target, tables, { tenantId, bound, side: 'new' });
  if (differences.length > 0) throw new RowsDifferError(differences);
}
