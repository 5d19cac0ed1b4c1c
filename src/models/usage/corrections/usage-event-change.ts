import type { Knex } from 'knex';
import { newId } from '../../../kernel/id.js';
import { sqlRows } from '../../db/sql-rows.js';
import { TenantModel } from '../../db/tenant-model.js';
import type { UsageStatus } from '../usage-event.js';

interface Change {
  readonly change: 'cancel' | 'amend';
  readonly reason: string;
  /** Null: a rejected event was dismissed. */
  readonly correctionId: string | null;
  /** The content that the event gets; null: it keeps what it has. */
  readonly message: string | null;
  /** When it becomes known, an instant. */
  readonly changedAt: string;
}

/** What a usage event was until it was canceled or amended (docs/decisions/0371). */
export class UsageEventChange extends TenantModel {
  static override tableName = 'usage_event_change';
  static override idColumn = ['tenantId', 'eventId', 'number'];

  declare eventId: string;
  declare number: number;
  declare changedAt: Date;
  declare correctionId: string | null;
  declare change: Change['change'];
  declare changeReason: string;
  declare message: string | null;
  declare status: UsageStatus;
  declare code: string | null;
  declare reason: string | null;
  declare accountId: string | null;
  declare serviceId: string | null;
  declare eventAt: Date | null;
  declare workflowId: string | null;
  declare runId: string;
  declare processedAt: Date;

  /** Keeps what events are before they are changed; their rows are locked. */
  static async keep(
    trx: Knex.Transaction,
    tenantId: string,
    eventIds: readonly string[],
    { change, reason, correctionId, message, changedAt }: Change,
  ): Promise<void> {
    await sqlRows(
      trx,
      `insert into usage_event_change (tenant_id, event_id, number, id, changed_at, correction_id,
         change, change_reason, message, partition, "offset", status, code, reason, account_id,
         service_id, event_at, workflow_id, run_id, processed_at)
       select tenant_id, event.id, 1 + (
           select count(*) from usage_event_change as known
           where known.tenant_id = event.tenant_id and known.event_id = event.id
         ), given.id, :changedAt::timestamptz, :correctionId::uuid, :change::text, :changeReason::text, :message::text,
         partition, "offset", status, code, reason, account_id, service_id, event_at, workflow_id,
         run_id, processed_at
       from unnest(:eventIds::uuid[], :ids::uuid[]) as given (event_id, id)
       join usage_event as event on event.tenant_id = :tenantId and event.id = given.event_id`,
      {
        tenantId,
        eventIds,
        ids: eventIds.map(() => newId()),
        change,
        changeReason: reason,
        correctionId,
        message,
        changedAt,
      },
    );
  }
}
