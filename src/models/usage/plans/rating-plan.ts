import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { contentId, contentIdOfDigest } from '../../../kernel/id.js';
import { inPortions } from '../../../kernel/portions.js';
import { canonicalJson } from '../../../kernel/text/json.js';
import { canonicalDigest } from '../../../kernel/text/json-write-portions.js';
import { compileInPieces, type RatingPlan } from '../../../rating/index.js';
import { BulkTable, writeTogether, type BulkStatement } from '../../db/bulk-table.js';
import { TenantModel } from '../../db/tenant-model.js';

const table = new BulkTable<{ id: string; plan: string }>('rating_plan', {
  id: 'uuid',
  plan: 'jsonb',
});

const ids = new WeakMap<RatingPlan, string>();

/** Plans that are known to be stored, as `<tenant>/<id>`. */
const stored = new LRUCache<string, true>({ max: 100_000 });

/** What charges were computed from, once for each distinct content. */
export class StoredRatingPlan extends TenantModel {
  static override tableName = 'rating_plan';

  declare plan: RatingPlan;

  /** Names a plan by its content. */
  static idOf(plan: RatingPlan): string {
    let id = ids.get(plan);
    if (id === undefined) {
      id = contentId(canonicalJson(plan));
      ids.set(plan, id);
    }
    return id;
  }

  /**
   * Compiles and names a plan, if it is not yet, in portions: one with thousands of rows takes longer than a
   * process may be kept from its other work.
   */
  static async prepare(plan: RatingPlan): Promise<void> {
    await inPortions(compileInPieces(plan));
    if (!ids.has(plan)) ids.set(plan, contentIdOfDigest(await canonicalDigest(plan)));
  }

  /** Notes the name of a plan that was read by it. */
  static nameIs(plan: RatingPlan, id: string): void {
    ids.set(plan, id);
  }

  /** Stores those plans that this process has not seen stored. */
  static insertMissing(
    trx: Knex.Transaction,
    tenantId: string,
    plans: Iterable<RatingPlan>,
  ): Promise<void> {
    return writeTogether(trx, StoredRatingPlan.insertingMissing(trx, tenantId, plans));
  }

  /** The statements that do so in a transaction. */
  static *insertingMissing(
    trx: Knex.Transaction,
    tenantId: string,
    plans: Iterable<RatingPlan>,
  ): Iterable<BulkStatement | null> {
    const rows = new Map<string, { id: string; plan: string }>();
    for (const plan of plans) {
      const id = StoredRatingPlan.idOf(plan);
      if (!stored.has(`${tenantId}/${id}`)) rows.set(id, { id, plan: JSON.stringify(plan) });
    }
    if (rows.size === 0) return;
    // In the order of the ids, so that two batches that store the same plans cannot deadlock.
    const sorted = [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    yield* table.insertingAll(tenantId, sorted, 'on conflict do nothing');
    const remember = (): void => sorted.forEach(({ id }) => stored.set(`${tenantId}/${id}`, true));
    void trx.executionPromise.then(remember, () => undefined);
  }
}
