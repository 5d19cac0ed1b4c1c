import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/**
 * The watermark of the search for executions that Temporal ended; it belongs to the platform, not
 * to a tenant.
 */
export const ExecutionWatchMark = {
  /** Undefined before the first search. */
  async read(db: Knex, taskQueue: string): Promise<Date | undefined> {
    const rows = await sqlRows<{ lookedUntil: Date }>(
      db,
      'select looked_until as "lookedUntil" from execution_watch where task_queue = ?',
      [taskQueue],
    );
    return rows[0]?.lookedUntil;
  },

  /** Advances the watermark; another process may have advanced it further. */
  async move(db: Knex, taskQueue: string, until: Date): Promise<void> {
    await db.raw(
      `insert into execution_watch (task_queue, looked_until) values (?, ?)
       on conflict (task_queue) do update
         set looked_until = greatest(execution_watch.looked_until, excluded.looked_until)`,
      [taskQueue, until],
    );
  },
};
