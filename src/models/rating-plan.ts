import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../kernel/json.js';
import type { RatingPlan } from '../rating/index.js';
import { BulkTable } from './bulk-table.js';
import { TenantModel } from './tenant-model.js';

const table = new BulkTable<{ hash: Buffer; plan: string }>('rating_plan', {
  hash: 'bytea',
  plan: 'jsonb',
});

const hashes = new WeakMap<RatingPlan, Buffer>();

/** Plans that are known to be stored, as `<tenant>/<hash>`. */
const stored = new LRUCache<string, true>({ max: 100_000 });
const storedKey = (tenantId: string, hash: Buffer): string =>
  `${tenantId}/${hash.toString('base64')}`;

/** What charges were computed from, once for each distinct content. */
export class StoredRatingPlan extends TenantModel {
  static override tableName = 'rating_plan';
  static override idColumn = ['tenantId', 'hash'];

  declare hash: Buffer;
  declare plan: RatingPlan;

  /** Names a plan by its content. */
  static hashOf(plan: RatingPlan): Buffer {
    let hash = hashes.get(plan);
    if (!hash) {
      hash = createHash('sha256').update(canonicalJson(plan)).digest();
      hashes.set(plan, hash);
    }
    return hash;
  }

  /** Stores those plans that this process has not seen stored. */
  static async insertMissing(
    trx: Knex.Transaction,
    tenantId: string,
    plans: Iterable<RatingPlan>,
  ): Promise<void> {
    const rows = new Map<string, { hash: Buffer; plan: string }>();
    for (const plan of plans) {
      const hash = StoredRatingPlan.hashOf(plan);
      const key = storedKey(tenantId, hash);
      if (!stored.has(key)) rows.set(key, { hash, plan: JSON.stringify(plan) });
    }
    if (rows.size === 0) return;
    // In the order of the hash, so that two batches that store the same plans cannot deadlock.
    const sorted = [...rows.values()].sort((a, b) => Buffer.compare(a.hash, b.hash));
    await table.insert(trx, tenantId, sorted, 'on conflict do nothing');
    const remember = (): void => rows.forEach((_row, key) => stored.set(key, true));
    void trx.executionPromise.then(remember, () => undefined);
  }
}
