import type { Knex } from 'knex';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** How long the first of what waits for a projection has waited, over all tenants. */
interface ProjectionLag {
  readonly projection: 'totals' | 'lists';
  readonly seconds: number;
}

/**
 * How far projections are behind the facts, for operators; 0: nothing waits. What waits is part of
 * every answer (docs/decisions/0320, 0343), so a lag makes answers slow, never wrong.
 */
export const findProjectionLag = (db: Knex): Promise<readonly ProjectionLag[]> =>
  sqlRows<ProjectionLag>(
    db,
    `select projection, coalesce(extract(epoch from now() - min(added_at)), 0)::float8 as seconds
     from (values ('totals'), ('lists')) as known (projection) left join (
       select 'totals' as projection, added_at from usage_change
       union all
       select 'lists', added_at from usage_unlisted
     ) as waiting using (projection)
     group by projection`,
  );
