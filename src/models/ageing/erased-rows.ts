import type { Knex } from 'knex';
import { jsonSeparatorSql } from '../../kernel/text/postgres-array.js';
import type { ErasurePlace } from '../../messages/ageing/erasure.js';
import { sqlRows } from '../db/sql-rows.js';
import type { ErasedPortion } from './erasure.js';

/** A table that may tell of a person, in portions by its key. */
interface ErasedTable {
  /** As the result of an erasure names it. */
  readonly name: string;
  /**
   * A statement with the bindings tenantId, id (of the erasure), after and limit, which gives the
   * last key of the portion (null: it was empty) and how many rows were changed.
   */
  readonly sql: string;
}

const soughtSql = `sought as materialized (
    select * from erasure where tenant_id = :tenantId and id = :id and ended_at is null
  )`;

const json = (column: string): string =>
  `erased_json(${column}::json, sought.wholes, sought.parts)::jsonb`;
const document = (column: string): string =>
  `erased_document(${column}::text, sought.wholes, sought.parts)`;
const text = (column: string): string => `erased_text(${column}, sought.wholes, sought.parts)`;
/** Ids of workflows are business keys; the execution's own id names nobody. */
const workflowId = (executionId: string): string => `case
  when is_marked(t.workflow_id, sought.marks) then t.tenant_id || '/erased/' || ${executionId}
  else t.workflow_id end`;
const joined = (...columns: string[]): string =>
  columns.map((column) => `coalesce(${column}::text, '')`).join(" || ' ' || ");

/**
 * The rows of a table by their key that hold a mark, changed. Where many rows have the same key, `number` tells
 * them apart.
 */
const paged = (of: {
  readonly table: string;
  readonly key: string;
  readonly type: string;
  readonly number?: string;
  readonly content: string;
  readonly change: string;
  readonly where?: string;
}): string => {
  const keys = of.number === undefined ? [of.key] : [of.key, of.number];
  const all = keys.join(', ');
  // A key alone is one behind which a portion ended before there was the number: all of it was changed.
  const after =
    of.number === undefined
      ? `:after::${of.type}`
      : `split_part(:after::text, '/', 1)::${of.type},
        coalesce(nullif(split_part(:after::text, '/', 2), '')::integer, 2147483647)`;
  return `
  with ${soughtSql}, page as materialized (
    select ${all} from ${of.table} as t
    where tenant_id = :tenantId and (:after::text is null or (${all}) > (${after}))
    order by ${all} limit :limit
  ), changed as (
    ${of.change} from sought
    where t.tenant_id = :tenantId
      and (${keys.map((key) => `t.${key}`).join(', ')}) in (select ${all} from page)
      and is_marked(${of.content}, sought.marks) and ${of.where ?? 'true'}
    returning 1
  )
  select (
      select concat_ws('/', ${all}) from page
      order by ${keys.map((key) => `${key} desc`).join(', ')} limit 1
    ) as "lastKey",
    (select count(*) from changed)::integer as rows`;
};

/**
 * Groups of the log written anew with what is left of the messages of events `own` (partition, offset);
 * `condition` says which of these messages go.
 */
const rewrittenSql = (condition: string): string => `
  place as materialized (
    select own.partition, log.first_offset, own."offset" - log.first_offset + 1 as number
    from own cross join lateral (
      select first_offset, end_offset from usage_message
      where tenant_id = :tenantId and partition = own.partition and first_offset <= own."offset"
      order by first_offset desc limit 1
    ) as log where log.end_offset > own."offset"
  ), changed as (
    update usage_message as log set
      messages = (
        select string_agg(case when place.number is null or not ${condition} then each.message
          else erased_message(each.message, 'erased-' || sought.account_id, sought.wholes,
            sought.parts) end, ${jsonSeparatorSql} order by each.number)
        from unnest(string_to_array(log.messages, ${jsonSeparatorSql}))
          with ordinality as each (message, number)
        left join place on place.partition = log.partition
          and place.first_offset = log.first_offset and place.number = each.number
      ),
      keys = erased_document(log.keys, sought.wholes, sought.parts)
    from sought
    where log.tenant_id = :tenantId
      and (log.partition, log.first_offset) in (select partition, first_offset from place)
    returning 1
  )`;

/** The messages of the events of the account, and of their repeats. */
const messagesSql = `
  with ${soughtSql}, page as materialized (
    select event.id, partition, "offset", external_transaction_id from usage_event as event, sought
    where event.tenant_id = :tenantId and event.account_id = sought.account_id
      and (:after::uuid is null or event.id > :after::uuid)
    order by event.id limit :limit
  ), own as materialized (
    select partition, "offset" from page
    union
    select again.partition, again."offset" from page join usage_event as again
      on again.tenant_id = :tenantId and again.original_id = page.id
      and again.external_transaction_id = page.external_transaction_id
  ), ${rewrittenSql('true')}
  select (select id::text from page order by id desc limit 1) as "lastKey",
    (select count(*) from changed)::integer as rows`;

/** The messages and reasons of rejected events without an account that name the person. */
const rejectedSql = `
  with ${soughtSql}, own as materialized (
    select id, partition, "offset" from usage_event
    where tenant_id = :tenantId and status in ('rejected', 'canceled') and account_id is null
      and (:after::uuid is null or id > :after::uuid)
    order by id limit :limit
  ), reasons as (
    update usage_event as event set reason = ${text('event.reason')} from sought
    where event.tenant_id = :tenantId and event.id in (select id from own)
      and is_marked(event.reason, sought.parts)
  ), ${rewrittenSql('is_marked(each.message, sought.marks)')}
  select (select id::text from own order by id desc limit 1) as "lastKey",
    (select count(*) from changed)::integer as rows`;

/**
 * In this order: the audit comes after all tables that it audits. An erasure that is under way when a new
 * version is deployed knows where it stands by a number: new tables come last, and none in between.
 * `workflow_undo` is left alone: a running execution calls what it has, and it goes with the execution.
 */
const tables: readonly ErasedTable[] = [
  {
    name: 'executions',
    sql: paged({
      table: 'execution',
      key: 'id',
      type: 'uuid',
      content: joined('t.workflow_id', 't.input', 't.output', 't.error', 't.answer', 't.steps'),
      // A running execution reads the results of its earlier steps.
      where: `t.status <> 'running'`,
      change: `update execution as t set input = ${json('t.input')}, output = ${json('t.output')},
        error = ${json('t.error')}, steps = ${json('t.steps')},
        answer = ${document('t.answer')}::json, workflow_id = ${workflowId('t.id')}`,
    }),
  },
  {
    name: 'workflowTasks',
    sql: paged({
      table: 'workflow_task',
      key: 'execution_id',
      type: 'uuid',
      number: 'seq',
      content: joined('t.input', 't.output', 't.error'),
      change: `update workflow_task as t set input = ${document('t.input')},
        output = ${document('t.output')}, error = ${document('t.error')}, marks = null`,
    }),
  },
  {
    name: 'idempotencyKeys',
    sql: paged({
      table: 'idempotency_key',
      key: 'key',
      type: 'text',
      content: joined('t.workflow_id', 't.answer'),
      change: `update idempotency_key as t set answer = ${document('t.answer')},
        workflow_id = ${workflowId('t.execution_id')}`,
    }),
  },
  {
    name: 'drafts',
    sql: paged({
      table: 'draft',
      key: 'entity_id',
      type: 'uuid',
      content: joined('t.input'),
      change: `update draft as t set input = ${json('t.input')}`,
    }),
  },
  {
    name: 'toolCalls',
    sql: paged({
      table: 'tool_call',
      key: 'id',
      type: 'uuid',
      content: joined('t.arguments'),
      change: `update tool_call as t set arguments = ${json('t.arguments')}`,
    }),
  },
  {
    name: 'webhookEvents',
    sql: paged({
      table: 'webhook_event',
      key: 'id',
      type: 'uuid',
      content: 't.body',
      change: `update webhook_event as t set body = ${document('t.body')}`,
    }),
  },
  {
    name: 'workflowStarts',
    sql: paged({
      table: 'workflow_start',
      key: 'id',
      type: 'uuid',
      content: 't.body',
      change: `update workflow_start as t set body = ${document('t.body')}`,
    }),
  },
  {
    name: 'workflowEvents',
    sql: paged({
      table: 'workflow_event',
      key: 'id',
      type: 'uuid',
      content: 't.body',
      change: `update workflow_event as t set body = ${document('t.body')}`,
    }),
  },
  {
    name: 'workflowListeners',
    sql: paged({
      table: 'workflow_listener',
      key: 'execution_id',
      type: 'uuid',
      number: 'task_seq',
      content: joined('t.variables', 't.heard_body'),
      change: `update workflow_listener as t set variables = ${document('t.variables')},
        heard_body = ${document('t.heard_body')}`,
    }),
  },
  {
    name: 'webhookAttempts',
    sql: paged({
      table: 'webhook_attempt',
      key: 'delivery_id',
      type: 'uuid',
      content: joined('t.answer', 't.error'),
      // What a receiver has answered may be any text.
      change: `update webhook_attempt as t set answer = '[erased]', error = ${text('t.error')}`,
    }),
  },
  { name: 'messages', sql: messagesSql },
  { name: 'rejectedMessages', sql: rejectedSql },
  {
    name: 'amendedMessages',
    sql: paged({
      table: 'usage_event_change',
      key: 'id',
      type: 'uuid',
      content: joined('t.message', 't.change_reason', 't.reason'),
      change: `update usage_event_change as t set
        message = case when t.message is not null then erased_message(t.message,
          'erased-' || sought.account_id, sought.wholes, sought.parts) end,
        change_reason = ${text('t.change_reason')}, reason = ${text('t.reason')}`,
    }),
  },
  {
    name: 'corrections',
    sql: paged({
      table: 'usage_correction',
      key: 'id',
      type: 'uuid',
      content: joined('t.reason'),
      change: `update usage_correction as t set reason = ${text('t.reason')}`,
    }),
  },
  {
    name: 'repricings',
    sql: paged({
      table: 'repricing',
      key: 'id',
      type: 'uuid',
      content: joined('t.name', 't.changes', 't.account_ids'),
      change: `update repricing as t set name = ${text('t.name')}, changes = ${document('t.changes')}`,
    }),
  },
  {
    name: 'approvals',
    sql: paged({
      table: 'approval',
      key: 'id',
      type: 'uuid',
      content: joined('t.title', 't.details'),
      // Whoever decides a pending approval has to see what it is about.
      where: `t.status <> 'pending'`,
      change: `update approval as t set title = ${text('t.title')}, details = ${json('t.details')}`,
    }),
  },
  {
    name: 'approvalDecisions',
    sql: paged({
      table: 'approval_decision',
      key: 'id',
      type: 'uuid',
      content: joined('t.reason'),
      change: `update approval_decision as t set reason = ${text('t.reason')}`,
    }),
  },
  {
    name: 'auditEntries',
    sql: `select last_id::text as "lastKey", erased as rows
      from erase_audit(:tenantId, :id, coalesce(:after::bigint, 0), :limit)`,
  },
  {
    name: 'workflowConditionFaults',
    sql: paged({
      table: 'workflow_condition_fault',
      key: 'definition_id',
      type: 'uuid',
      content: 't.reason',
      change: `update workflow_condition_fault as t set reason = ${text('t.reason')}`,
    }),
  },
];

/** Erases what a portion of one table tells of the person of an erasure. */
export async function eraseRows(
  trx: Knex.Transaction,
  tenantId: string,
  {
    id,
    place,
    limit,
  }: { readonly id: string; readonly place: ErasurePlace; readonly limit: number },
): Promise<ErasedPortion> {
  const table = tables[place.table];
  if (table === undefined) return { name: '', rows: 0, next: null };
  const bindings = { tenantId, id, after: place.after, limit };
  const [row] = await sqlRows<{ lastKey: string | null; rows: number }>(trx, table.sql, bindings);
  const { lastKey = null, rows = 0 } = row ?? {};
  const following = place.table + 1;
  const next =
    lastKey === null ? { table: following, after: null } : { table: place.table, after: lastKey };
  return { name: table.name, rows, next: next.table < tables.length ? next : null };
}
