import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { ChangeStream } from './change-stream.js';
import { compareChanges, compareLast, withChanges, type Copy } from './compare-copy.js';
import { withCopy, type MovePlace } from './move-tenant.js';
import { findFence, lowerFence, raiseFence, setFence } from './tenant-fence.js';

/** How long a step may take while the tenant waits. */
const stepMs = 5_000;
const lookMs = 5;

/** What a flip does in the home database: whether it is done, and how. */
export interface Directory {
  isFlipped(): Promise<boolean>;
  /** In one transaction, which `check` may end where nobody else can flip it meanwhile. */
  flip(check: () => Promise<void>): Promise<void>;
  /** Works while nobody can flip it; not where that has been done, or the move was taken back. */
  unlessFlipped(work: () => Promise<void>): Promise<void>;
}

/**
 * Moves a tenant whose rows are copied: nothing is done for it between the fence and the flip of the
 * directory. Returns how long that was; undefined: something was under way that takes longer than a
 * moment, or much changed, and the tenant is where it was. Until the flip, whatever fails leaves it there.
 */
export async function flipTenant(
  place: MovePlace,
  directory: Directory,
): Promise<number | undefined> {
  const { tenantId } = place;
  const others = (await directory.isFlipped()) ? 'end' : 'await';
  return withCopy(place, others, async (copy) => {
    let begun = performance.now();
    if (!(await directory.isFlipped())) {
      const since = await withChanges(copy, true, (stream) =>
        pauseAndFlip(copy, stream, directory),
      );
      if (since === undefined) return undefined;
      begun = since;
    }
    await setFence(copy.source, tenantId, 'moved');
    await lowerFence(copy.target, tenantId);
    return performance.now() - begun;
  });
}

/** Returns when the pause has begun; undefined: it has not. */
async function pauseAndFlip(
  copy: Copy,
  stream: ChangeStream,
  directory: Directory,
): Promise<number | undefined> {
  const { source, target, tenantId } = copy;
  // An attempt that was killed behind the fence has left it.
  const isOpen = (await findFence(source, tenantId)) === undefined;
  if (isOpen && !(await compareChanges(copy, stream))) return undefined;
  const begun = performance.now();
  if (isOpen && !(await raiseFence(source, tenantId))) return undefined;
  try {
    for (const client of [source, target]) await client.query(`set statement_timeout = ${stepMs}`);
    // The chain of the audit is closed here: the target seals what is written there.
    await sealAll(source, tenantId);
    await compareLast(copy, stream);
    // Whoever has lost the connection has lost its turn, and others may have lowered the fence.
    await directory.flip(async () => void (await source.query('select 1')));
  } catch (error) {
    await directory.unlessFlipped(() => lowerFence(source, tenantId));
    // The answer to the flip may have been lost.
    if (!(await directory.isFlipped())) throw error;
  }
  return begun;
}

/** Seals all entries of a tenant; another process may be sealing, and then does it. */
async function sealAll(source: pg.Client, tenantId: string): Promise<void> {
  for (const deadline = performance.now() + stepMs; ; await wait(lookMs)) {
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
