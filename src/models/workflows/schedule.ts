import type { Knex } from 'knex';
import { isFencedSql, isSuspendedSql } from '../access/tenant.js';
import { sqlRows } from '../db/sql-rows.js';

/** When a workflow of a tenant falls due next. */
export interface WorkflowSchedule {
  readonly definitionId: string;
  readonly version: number;
  readonly cron: string;
  readonly timeZone: string;
  readonly nextAt: Date;
}

/** Schedules of tenants' workflows. */
export const WorkflowSchedules = {
  /** Keeps that of a workflow in the place of what it had; undefined: it has none. */
  async keep(
    trx: Knex,
    tenantId: string,
    definitionId: string,
    schedule: Omit<WorkflowSchedule, 'definitionId'> | undefined,
  ): Promise<void> {
    await trx.raw('delete from workflow_schedule where tenant_id = ? and definition_id = ?', [
      tenantId,
      definitionId,
    ]);
    if (schedule === undefined) return;
    const { version, cron, timeZone, nextAt } = schedule;
    await trx.raw(
      `insert into workflow_schedule (tenant_id, definition_id, version, cron, time_zone, next_at)
       values (?, ?, ?, ?, ?, ?)`,
      [tenantId, definitionId, version, cron, timeZone, nextAt],
    );
  },

  /**
   * Tenants with schedules that are due by the real time. The time of a sandbox is moved by
   * `POST /v1/clock`, which does what falls due on its way.
   */
  async dueTenants(db: Knex, now: Date, limit: number): Promise<string[]> {
    const rows = await sqlRows<{ tenantId: string }>(
      db,
      `select distinct tenant_id as "tenantId" from workflow_schedule as schedule
       where next_at <= ? and not ${isSuspendedSql('schedule.tenant_id')}
         and not ${isFencedSql('schedule.tenant_id')}
         and not exists (
           select from tenant_clock as clock where clock.tenant_id = schedule.tenant_id
         )
       limit ?`,
      [now, limit],
    );
    return rows.map(({ tenantId }) => tenantId);
  },

  /** When the next of a tenant falls due. */
  async next(db: Knex, tenantId: string): Promise<Date | undefined> {
    const rows = await sqlRows<{ nextAt: Date | null }>(
      db,
      'select min(next_at) as "nextAt" from workflow_schedule where tenant_id = ?',
      [tenantId],
    );
    return rows[0]?.nextAt ?? undefined;
  },

  /** Those of a tenant that are due, the earliest first, held until the transaction ends. */
  holdDue: (
    trx: Knex.Transaction,
    tenantId: string,
    now: Date,
    limit: number,
  ): Promise<WorkflowSchedule[]> =>
    sqlRows<WorkflowSchedule>(
      trx,
      `select definition_id as "definitionId", version, cron, time_zone as "timeZone",
         next_at as "nextAt"
       from workflow_schedule where tenant_id = ? and next_at <= ?
       order by next_at, definition_id limit ? for update skip locked`,
      [tenantId, now, limit],
    ),
};
