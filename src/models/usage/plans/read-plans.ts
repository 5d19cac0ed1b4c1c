import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { parseLong } from '../../../kernel/text/parse-long.js';
import type { RatingPlan } from '../../../rating/index.js';
import { sqlRows } from '../../db/sql-rows.js';
import { StoredRatingPlan } from './rating-plan.js';

/** Where plans are stored: those of the books, or those that a repricing tries. */
export interface PlanStore {
  readonly db: Knex;
  readonly tenantId: string;
  /** Absent: the books. */
  readonly repricingId?: string;
}

export interface ReadPlans {
  /** By their ids; those that are not stored are missing. */
  readonly plans: ReadonlyMap<string, RatingPlan>;
  /** Of how many of the items all plans were read: at least of the first. */
  readonly count: number;
}

/** Bytes of JSON that are read at once: five times as much of memory, and ten times once it is compiled. */
const readAtOnce = 8 * 1024 * 1024;
/** A plan is named by what it says: those that were read last are kept, of all tenants. */
const kept = new LRUCache<string, RatingPlan>({
  maxSize: 8 * 1024 * 1024,
  maxEntrySize: 2 * 1024 * 1024,
});

/** Plans that one statement reads: the first ones tell whether they are small. */
const statementSizes = { first: 8, most: 32 };

/** Plans in the order of the ids, with their texts as far as those are within a number of bytes. */
const plansSql = (table: string, ofRepricing: string): string => `
  with found as materialized (
    select id, plan::text as text, array_position(:ids::uuid[], id) as place
    from ${table} where tenant_id = :tenantId ${ofRepricing} and id = any(:ids::uuid[])
  )
  select id, bytes, case when before < :bytesMax or place <= :least then text end as text
  from (
    select *, octet_length(text) as bytes,
      sum(octet_length(text)) over (order by place) - octet_length(text) as before
    from found
  ) as measured
  order by place`;

interface PlanRow {
  readonly id: string;
  readonly bytes: number;
  /** Null: beyond the limit. */
  readonly text: string | null;
}

const booksSql = plansSql('rating_plan', '');
const triedSql = plansSql('repricing_plan', 'and repricing_id = :repricingId::uuid');

/**
 * Reads the plans that each of some items needs, of as many of the first items as may be held at once: those of
 * thousands of rows have megabytes, and events of a page may each have another one.
 */
export async function readPlans(
  store: PlanStore,
  items: readonly (readonly string[])[],
): Promise<ReadPlans> {
  const { tenantId } = store;
  const plans = new Map<string, RatingPlan>();
  const missing: string[] = [];
  for (const id of new Set(items.flat())) {
    const plan = kept.get(`${tenantId}/${id}`);
    if (plan) plans.set(id, plan);
    else missing.push(id);
  }
  const first = new Set(items[0]);
  const least = missing.filter((id) => first.has(id)).length;
  const left = new Set(await readMissing(store, missing, least, plans));
  const cut = left.size === 0 ? -1 : items.findIndex((ids) => ids.some((id) => left.has(id)));
  return { plans, count: cut < 0 ? items.length : cut };
}

/** Adds plans in the order of the ids; returns the ids of those that are beyond the limit. */
async function readMissing(
  { db, tenantId, repricingId }: PlanStore,
  ids: readonly string[],
  least: number,
  plans: Map<string, RatingPlan>,
): Promise<readonly string[]> {
  let bytes = 0;
  let size = statementSizes.first;
  for (let at = 0; at < ids.length;) {
    if (bytes >= readAtOnce && at >= least) return ids.slice(at);
    const some = ids.slice(at, at + size);
    const rows = await sqlRows<PlanRow>(db, repricingId === undefined ? booksSql : triedSql, {
      tenantId,
      ids: some,
      bytesMax: readAtOnce - bytes,
      least: least - at,
      ...(repricingId === undefined ? {} : { repricingId }),
    });
    for (const { id, bytes: own, text } of rows) {
      if (text === null) return ids.slice(ids.indexOf(id));
      const plan = await parseLong<RatingPlan>(text);
      StoredRatingPlan.nameIs(plan, id);
      kept.set(`${tenantId}/${id}`, plan, { size: own });
      plans.set(id, plan);
      bytes += own;
    }
    at += some.length;
    size = Math.min(2 * size, statementSizes.most);
  }
  return [];
}
