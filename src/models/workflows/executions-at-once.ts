import type { Knex } from 'knex';
import { runningMax } from '../../messages/definitions/definition-run.js';
import { sqlRows } from '../db/sql-rows.js';

/** SQL for whether a tenant may have another execution of its own workflows; `tenant` is SQL for its id. */
export const hasRunningRoomSql = (tenant: string): string =>
  `may_run_more_definitions(${tenant}, ${runningMax})`;

/** Whether a tenant may have another execution of its own workflows. */
export async function hasRunningRoom(db: Knex, tenantId: string): Promise<boolean> {
  const rows = await sqlRows<{ hasRoom: boolean }>(
    db,
    `select ${hasRunningRoomSql('?')} as "hasRoom"`,
    [tenantId],
  );
  return rows[0]?.hasRoom === true;
}
