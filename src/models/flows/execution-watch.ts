import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** Until when workers have looked for executions that Temporal ended; of the platform, not of a tenant. */
export const ExecutionWatchMark = {
  /** Undefined where nobody has looked yet. */
  async read(db: Knex, taskQueue: string): Promise<Date | undefined> {
    const rows = await sqlRows<{ lookedUntil: Date }>(
      db,
      'select looked_until as "lookedUntil" from execution_watch where task_queue = ?',
      [taskQueue],
    );
    return rows[0]?.lookedUntil;
  },

  /** Moves it forward; another process may be further. */
  async move(db: Knex, taskQueue: string, until: Date): Promise<void> {
    await db.raw(
      `insert into execution_watch (task_queue, looked_until) values (?, ?)
       on conflict (task_queue) do update
         set looked_until = greatest(execution_watch.looked_until, excluded.looked_until)`,
      [taskQueue, until],
    );
  },
};
