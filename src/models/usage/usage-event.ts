import type { Knex } from 'knex';
import { raw } from 'objection';
import { BulkTable } from '../db/bulk-table.js';
import { TenantModel, type TenantQueryBuilder } from '../db/tenant-model.js';
import {
  countFitting,
  eventMessageSql,
  pageBytesMax,
  sentBeforeAmendingSql,
} from './event-message.js';
import { readArchivedOriginals } from './finding/archived-original.js';
import { weighOriginals } from './finding/original-weight.js';
import { findOriginalIds, originalIds } from './finding/usage-identity.js';
import { eventIdsAt, type PlaceRange } from './finding/usage-place.js';

export type UsageStatus = 'rated' | 'rejected' | 'duplicate' | 'canceled';

/** What is written of a usage event. */
export interface UsageEventRow {
  readonly id: string;
  readonly partition: number;
  readonly offset: number;
  readonly orgId: string | null;
  readonly externalTransactionId: string | null;
  readonly status: UsageStatus;
  /** Why it was rejected: code and message. */
  readonly code: string | null;
  readonly reason: string | null;
  readonly accountId: string | null;
  readonly serviceId: string | null;
  /** When the usage occurred; text, since it may have microseconds. */
  readonly eventAt: string | null;
  /** Null: the log has it, at partition and offset; versions before 0322 wrote it here. */
  readonly message: string | null;
  /** The original event of a duplicate or conflicting one. */
  readonly originalId: string | null;
  /** Null: that of its run (`writeRun`); versions before 0324 wrote it here. */
  readonly workflowId: string | null;
  readonly runId: string;
  readonly receivedAt: Date;
  readonly processedAt: Date;
}

const table = new BulkTable<UsageEventRow>('usage_event', {
  id: 'uuid',
  partition: 'integer',
  offset: 'bigint',
  orgId: 'text',
  externalTransactionId: 'text',
  status: 'text',
  code: 'text',
  reason: 'text',
  accountId: 'uuid',
  serviceId: 'uuid',
  eventAt: 'timestamptz',
  message: 'text',
  originalId: 'uuid',
  workflowId: 'text',
  runId: 'uuid',
  receivedAt: 'timestamptz',
  processedAt: 'timestamptz',
});

const runs = new BulkTable<{ runId: string; workflowId: string }>('usage_run', {
  runId: 'uuid',
  workflowId: 'text',
});

const workflowSql = `coalesce(usage_event.workflow_id, (
  select usage_run.workflow_id from usage_run
  where usage_run.tenant_id = usage_event.tenant_id and usage_run.run_id = usage_event.run_id
))`;

/** What is known of an event whose message is gone. */
export interface GoneMessage {
  /** When and why it went, for whoever asks for the event. */
  readonly note: string;
  /** The external id of its account, where it has one. */
  readonly accountRef: string | null;
}

/** How many events of a range came to which end. */
export interface UsageCounts {
  rated: number;
  duplicate: number;
  rejected: number;
}

/** Events that are weighed at once: more than this would be weighed again and again. */
const weighedMax = 500;

/** A message of the usage log with its outcome. */
export class UsageEvent extends TenantModel {
  static override tableName = 'usage_event';

  declare partition: number;
  /** A `bigint`, so text. */
  declare offset: string;
  declare orgId: string | null;
  declare externalTransactionId: string | null;
  declare status: UsageStatus;
  declare code: string | null;
  declare reason: string | null;
  declare accountId: string | null;
  declare serviceId: string | null;
  declare eventAt: Date | null;
  /** As in `UsageEventRow`; `text` is the message. */
  declare message: string | null;
  /**
   * The message, where the query is `withText`; null: the log has it no more (docs/decisions/0352),
   * and `gone` says so where it was asked for.
   */
  text: string | null = null;
  /** What it was sent with, where it was amended since and `lockOriginals` has read it. */
  sent: string | null = null;
  gone: GoneMessage | undefined;
  declare originalId: string | null;
  /** As in `UsageEventRow`; `workflow` is the workflow's id. */
  declare workflowId: string | null;
  /** Set where the query is `withText`. */
  workflow = '';
  declare runId: string;
  declare receivedAt: Date;
  declare processedAt: Date;

  /** The statements that insert events. */
  static inserting(tenantId: string, rows: readonly UsageEventRow[]) {
    return table.insertingAll(tenantId, rows);
  }

  /** The statement that changes events. */
  static updating(tenantId: string, rows: readonly UsageEventRow[]) {
    return table.updating(tenantId, 'id', rows);
  }

  /** Adds the messages and the ids of workflows to the columns of a query. */
  static withText(query: TenantQueryBuilder<UsageEvent>): TenantQueryBuilder<UsageEvent> {
    return query.select(
      'usageEvent.*',
      raw(eventMessageSql('usage_event')).as('text'),
      raw(workflowSql).as('workflow'),
    );
  }

  /**
   * The events of these ids with their messages, in this order: as many at once as have messages that may be
   * held (docs/decisions/0482).
   */
  static async *readByWeight(
    db: Knex,
    tenantId: string,
    ids: readonly string[],
  ): AsyncGenerator<UsageEvent[]> {
    for (let next = 0; next < ids.length;) {
      const weighed = ids.slice(next, next + weighedMax);
      const count = await countFitting(db, tenantId, weighed, pageBytesMax);
      const fitting = weighed.slice(0, count);
      next += count;
      const rows = await UsageEvent.withText(UsageEvent.query(db).forTenant(tenantId)).whereRaw(
        'usage_event.id = any(?::uuid[])',
        [fitting],
      );
      const byId = new Map(rows.map((row) => [row.id, row]));
      yield fitting.flatMap((id) => byId.get(id) ?? []);
    }
  }

  /** The statement that names the workflow of a run that rates events. */
  static namingRun(
    tenantId: string,
    { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
  ) {
    return runs.inserting(tenantId, [{ runId, workflowId }], 'on conflict do nothing');
  }

  /** The original events of these external ids. */
  static ofExternalIds(
    db: Knex,
    tenantId: string,
    externalIds: readonly string[],
  ): TenantQueryBuilder<UsageEvent> {
    const { sql, bindings } = originalIds(tenantId, externalIds);
    return UsageEvent.query(db)
      .forTenant(tenantId)
      .whereRaw(`usage_event.id = any(array(${sql}))`, [...bindings]);
  }

  /** The events at these places of the log. */
  static at(
    db: Knex,
    tenantId: string,
    ranges: readonly PlaceRange[],
  ): TenantQueryBuilder<UsageEvent> {
    const { sql, bindings } = eventIdsAt(tenantId, ranges);
    return UsageEvent.query(db)
      .forTenant(tenantId)
      .whereRaw(`usage_event.id in (${sql})`, [...bindings]);
  }

  /**
   * The originals of these external ids with their messages, locked until the transaction ends, and how many
   * of the external ids they are the originals of: the first ones, as many as have messages of so many bytes
   * together and are weighed at once. Of one that is in the archive alone there is what a repeat is compared
   * with. `found` are the ids of all originals of these external ids.
   */
  static async lockOriginals(
    trx: Knex.Transaction,
    tenantId: string,
    externalIds: readonly string[],
    { bytesMax, found }: { readonly bytesMax: number; readonly found: readonly string[] },
  ): Promise<{ readonly originals: readonly UsageEvent[]; readonly count: number }> {
    if (found.length === 0) return { originals: [], count: externalIds.length };
    if (found.length > weighedMax && externalIds.length > weighedMax) {
      const first = externalIds.slice(0, weighedMax);
      const some = await findOriginalIds(trx, tenantId, first);
      return this.lockOriginals(trx, tenantId, first, { bytesMax, found: some });
    }
    const weighed = await weighOriginals(trx, tenantId, externalIds, found);
    const ids: string[] = [];
    let bytes = 0;
    let count = 0;
    for (const externalId of externalIds) {
      if (bytes >= bytesMax) break;
      count += 1;
      const original = weighed.get(externalId);
      if (original === undefined) continue;
      ids.push(original.id);
      bytes += original.weight;
    }
    return { originals: await this.#lock(trx, tenantId, externalIds, ids), count };
  }

  static async #lock(
    trx: Knex.Transaction,
    tenantId: string,
    externalIds: readonly string[],
    ids: readonly string[],
  ): Promise<UsageEvent[]> {
    if (ids.length === 0) return [];
    const rows = await UsageEvent.withText(UsageEvent.query(trx).forTenant(tenantId))
      .whereRaw('usage_event.id = any(?::uuid[])', [ids])
      .select(raw(sentBeforeAmendingSql('usage_event')).as('sent'))
      .orderBy('id')
      .forUpdate();
    if (rows.length === ids.length) return rows;
    const stored = new Set(rows.map(({ id }) => id));
    const archived = await readArchivedOriginals(trx, tenantId, {
      externalIds,
      ids: ids.filter((id) => !stored.has(id)),
    });
    return [
      ...rows,
      ...archived.map((original) => Object.assign(new UsageEvent(), original, { tenantId })),
    ];
  }

  /** Cancels events, whose rows are locked; `reason` is why. */
  static async cancel(
    trx: Knex.Transaction,
    tenantId: string,
    ids: readonly string[],
    reason: string,
  ): Promise<void> {
    await trx.raw(
      `update usage_event set status = 'canceled', code = null, reason = ?
       where tenant_id = ? and id = any(?::uuid[])`,
      [reason, tenantId, [...ids]],
    );
  }

  /** Counts messages by outcome in a range of the log. */
  static async countRange(trx: Knex, tenantId: string, range: PlaceRange): Promise<UsageCounts> {
    const rows = (await UsageEvent.at(trx, tenantId, [range])
      .select('status')
      .count('* as count')
      .groupBy('status')) as unknown as { status: UsageStatus; count: string }[];
    const counts: UsageCounts = { rated: 0, duplicate: 0, rejected: 0 };
    // What is canceled meanwhile was rated or rejected then.
    for (const { status, count } of rows) {
      counts[status === 'canceled' ? 'rated' : status] += Number(count);
    }
    return counts;
  }
}
