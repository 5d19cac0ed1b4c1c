import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import { arrayLiteral, joinJson, splitJsonSql } from '../../kernel/text/postgres-array.js';
import type { WebhookEvent } from '../../messages/webhook.js';
import type { RecordType } from '../records/record-type.js';
import { listenedKindsSql, WorkflowListeners } from '../workflows/listener.js';
import { WorkflowStarts } from '../workflows/trigger.js';
import { waitingMax, waitingRoom } from './webhook-delivery.js';
import { sqlRows } from '../db/sql-rows.js';

/** An event in the outbox. */
export interface OutboxEvent {
  readonly event: string;
  /** The record that changed: events of one record are delivered in their order. */
  readonly recordId: string;
  /** JSON text: what is sent and signed. */
  readonly body: string;
}

/** Kinds of events that somebody wants, those that start workflows, and those that workflows wait for. */
export interface WantedEvents {
  readonly all: ReadonlySet<string>;
  readonly triggers: ReadonlySet<string>;
  readonly listened: ReadonlySet<string>;
}

interface Recorded {
  readonly at: Date;
  /** How deep executions of tenants' workflows caused each other, as far as the caller knows. */
  readonly depth?: number | undefined;
  /** For this webhook alone. */
  readonly webhookId?: string;
  /** Kinds that start workflows, or that they wait for; undefined: none. */
  readonly wanted?: Pick<WantedEvents, 'triggers' | 'listened'>;
}

type Bindings = readonly (string | Date)[];
interface Input {
  /** A select with the columns id, event, record_id, body, position. */
  readonly sql: string;
  readonly bindings: Bindings;
}

/** Why a delivery was given up at once, and what can be done. */
const noRoom =
  `More than ${waitingMax} deliveries were waiting: make room, then send it once more ` +
  '(POST /v1/webhooks/{webhookId}/recover).';

/**
 * Writes events that an active webhook wants, and a delivery for each such webhook. Above the
 * maximum of waiting deliveries they are given up at once: receivers must not slow down the
 * tenant's own work.
 */
async function store(
  trx: Knex,
  tenantId: string,
  input: Input,
  at: Date,
  webhooks: Input = { sql: 'webhook.active and input.event = any(webhook.events)', bindings: [] },
): Promise<void> {
  await trx.raw(
    `with input as materialized (${input.sql}),
     wanted as materialized (
       select input.*, webhook.id as webhook_id from input
       join webhook on webhook.tenant_id = ? and ${webhooks.sql}
     ),
     stored as (
       insert into webhook_event (tenant_id, id, event, record_id, body, created_at)
       select ?::text, id, event, record_id, body, ?::timestamptz
       from input where id in (select id from wanted)
     )
     insert into webhook_delivery
       (tenant_id, id, webhook_id, event_id, event, record_id, created_at, status, reason, ended_at)
     select ?::text, gen_random_uuid(), webhook_id, id, event, record_id, ?::timestamptz,
       case when fits then 'pending' else 'failed' end, case when not fits then ?::text end,
       case when not fits then ?::timestamptz end
     from (
       select *, row_number() over (order by position) <= ${waitingRoom} as fits from wanted
     ) as placed order by position`,
    [
      ...input.bindings,
      tenantId,
      ...webhooks.bindings,
      tenantId,
      at,
      tenantId,
      at,
      noRoom,
      at,
      tenantId,
    ] as string[],
  );
}

/** Events as a select, for statements that write them. */
export function eventsSql(events: readonly OutboxEvent[]): Input {
  const bodies = events.map(({ body }) => body);
  const joined = joinJson(bodies);
  const sql = `select * from unnest(
      ?::uuid[], ?::text[], ?::uuid[], ${joined === null ? '?::text[]' : splitJsonSql}
    ) with ordinality as given (id, event, record_id, body, position)`;
  const bindings = [
    arrayLiteral(events.map(() => newId())),
    arrayLiteral(events.map(({ event }) => event)),
    arrayLiteral(events.map(({ recordId }) => recordId)),
    joined ?? arrayLiteral(bodies, true),
  ];
  return { sql, bindings };
}

/** The outbox: events are committed with the change that they describe, or not at all. */
export const WebhookOutbox = {
  /** The kinds that an active webhook of the tenant wants, or a workflow of it; of most tenants none. */
  async wanted(trx: Knex, tenantId: string): Promise<WantedEvents> {
    const rows = await sqlRows<{ event: string; by: 'webhook' | 'trigger' | 'listener' }>(
      trx,
      `select distinct unnest(events) as event, 'webhook' as by from webhook
       where tenant_id = ? and active
       union all select distinct event, 'trigger' from workflow_trigger where tenant_id = ?
       union all select event, 'listener' from (${listenedKindsSql}) as listened`,
      [tenantId, tenantId, tenantId, tenantId],
      'wanted events',
    );
    const of = (some: typeof rows): ReadonlySet<string> => new Set(some.map(({ event }) => event));
    return {
      all: of(rows),
      triggers: of(rows.filter(({ by }) => by === 'trigger')),
      listened: of(rows.filter(({ by }) => by === 'listener')),
    };
  },

  /** Records events, in their order, with one statement. */
  async record(
    trx: Knex,
    tenantId: string,
    events: readonly OutboxEvent[],
    { at, depth = 0, webhookId, wanted }: Recorded,
  ): Promise<void> {
    if (events.length === 0) return;
    const { sql, bindings } = eventsSql(events);
    const one =
      webhookId === undefined ? undefined : { sql: 'webhook.id = ?::uuid', bindings: [webhookId] };
    await store(trx, tenantId, { sql, bindings }, at, one);
    if (events.some(({ event }) => wanted?.triggers.has(event) === true)) {
      await WorkflowStarts.record(trx, tenantId, { sql, bindings }, { at, depth });
    }
    const kinds = [...(wanted?.listened ?? [])];
    if (events.some(({ event }) => kinds.includes(event))) {
      await WorkflowListeners.record(trx, tenantId, { sql, bindings }, { at, kinds });
    }
  },

  /** Records that all records of a type are deleted: there may be millions. */
  async recordDeletions(trx: Knex, type: RecordType, at: Date, depth = 0): Promise<void> {
    const event: WebhookEvent = 'mdata.deleted';
    const { all, triggers, listened } = await WebhookOutbox.wanted(trx, type.tenantId);
    if (!all.has(event)) return;
    const instant = (column: string): string =>
      `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    const sql = `select gen_random_uuid() as id, ?::text as event, id as record_id,
        json_build_object('event', ?::text, 'timestamp', ?::text, 'data', json_build_object(
          'id', id, 'mobjectId', record_type_id, 'data', data,
          'createdAt', ${instant('created_at')}, 'updatedAt', ${instant('updated_at')}
        ))::text as body,
        row_number() over (order by id) as position
      from record where tenant_id = ? and record_type_id = ?::uuid`;
    const bindings = [event, event, at.toISOString(), type.tenantId, type.id];
    await store(trx, type.tenantId, { sql, bindings }, at);
    if (triggers.has(event)) {
      await WorkflowStarts.record(trx, type.tenantId, { sql, bindings }, { at, depth });
    }
    if (listened.has(event)) {
      const kinds = [event];
      await WorkflowListeners.record(trx, type.tenantId, { sql, bindings }, { at, kinds });
    }
  },
};
