import type { Knex } from 'knex';
import type { EventFilter } from '../../messages/definitions/definition.js';
import { isFencedSql, isSuspendedSql } from '../access/tenant.js';
import { sqlRows } from '../db/sql-rows.js';
import type { EventsSql } from './trigger.js';

/** Listeners of a tenant, and events that wait until they are heard. */
export const listenersMax = 2_000;
const waitingMax = 10_000;
/** Events of a tenant that are read out at once, and executions that are told. */
const eventsAtOnce = 50;
/** Bytes that they may have together; the first is always read. */
const eventBytesMax = 4 * 1024 * 1024;
const wakesMax = 200;

/** The task that listens. */
export interface ListenerKey {
  readonly executionId: string;
  readonly seq: number;
}

/** An event that listeners of its kind have not been asked about. */
export interface WaitingEvent {
  readonly id: string;
  readonly seq: string;
  readonly event: string;
  readonly body: string;
}

/** A listener with what its conditions read. */
export interface OpenListener extends ListenerKey {
  readonly event: string;
  /** Of the execution in Temporal. */
  readonly workflowId: string;
  readonly filters: string;
  readonly variables: string;
  readonly openedAfter: string;
}

/** What a listener has heard. */
export interface HeardRow {
  readonly event: string;
  readonly body: string;
}

/** The kinds of which a tenant has listeners: one look at the index for each, however many listen. */
export const listenedKindsSql = `with recursive kinds as (
    (select event from workflow_ear where tenant_id = ? order by event limit 1)
    union all
    select (select event from workflow_ear where tenant_id = ? and event > kinds.event
      order by event limit 1)
    from kinds where kinds.event is not null
  ) select event from kinds where event is not null`;

const own = 'tenant_id = ? and execution_id = ? and task_seq = ?';

/** Tasks that wait for events (docs/decisions/0402). */
export const WorkflowListeners = {
  /** Records events for those who listen; more than may wait are heard by nobody. */
  async record(
    trx: Knex,
    tenantId: string,
    { sql, bindings }: EventsSql,
    { at, kinds }: { readonly at: Date; readonly kinds: readonly string[] },
  ): Promise<void> {
    await trx.raw(
      `insert into workflow_event (tenant_id, id, event, body, created_at)
       select ?::text, id, event, body, ?::timestamptz from (${sql}) as input
       where event = any(?::text[]) order by position
       limit greatest(0, ?::integer - (
         select count(*)::integer from (
           select from workflow_event where tenant_id = ? limit ?::integer
         ) as waiting
       ))`,
      [tenantId, at, ...bindings, [...kinds], waitingMax, tenantId, waitingMax] as string[],
    );
  },

  async count(db: Knex, tenantId: string): Promise<number> {
    const rows = await sqlRows<{ count: number }>(
      db,
      'select count(*)::integer as count from workflow_listener where tenant_id = ?',
      [tenantId],
    );
    return rows[0]?.count ?? 0;
  },

  /** Makes one; the same again makes none. */
  async open(
    trx: Knex,
    tenantId: string,
    { executionId, seq }: ListenerKey,
    {
      workflowId,
      filters,
      variables,
      at,
    }: {
      readonly workflowId: string;
      readonly filters: readonly EventFilter[];
      readonly variables: unknown;
      readonly at: Date;
    },
  ): Promise<void> {
    const made = await sqlRows(
      trx,
      `insert into workflow_listener (tenant_id, execution_id, task_seq, workflow_id, filters,
         variables, opened_after, created_at)
       values (?, ?, ?, ?, ?, ?, nextval(pg_get_serial_sequence('workflow_event', 'seq')), ?)
       on conflict do nothing returning task_seq`,
      [
        tenantId,
        executionId,
        seq,
        workflowId,
        JSON.stringify(filters),
        JSON.stringify(variables),
        at,
      ] as string[],
    );
    if (made.length === 0) return;
    await trx.raw(
      `insert into workflow_ear (tenant_id, event, execution_id, task_seq)
       select distinct ?, event, ?::uuid, ?::integer from unnest(?::text[]) as event`,
      [tenantId, executionId, seq, filters.map(({ type }) => type)] as string[],
    );
  },

  /** Forgets listeners whose event the execution has. */
  async forget(
    trx: Knex,
    tenantId: string,
    executionId: string,
    seqs: readonly number[],
  ): Promise<void> {
    if (seqs.length === 0) return;
    await trx.raw(
      `delete from workflow_listener
       where tenant_id = ? and execution_id = ? and task_seq = any(?::integer[])`,
      [tenantId, executionId, [...seqs]] as string[],
    );
  },

  /** What one has heard, which is taken; null: nothing yet. Ends its listening where that is asked for. */
  async look(
    trx: Knex,
    tenantId: string,
    { executionId, seq, isEnding }: ListenerKey & { readonly isEnding: boolean },
  ): Promise<HeardRow | null> {
    const key = [tenantId, executionId, seq];
    const [found] = await sqlRows<{ event: string | null; body: string | null }>(
      trx,
      `select heard_event as event, heard_body as body from workflow_listener
       where ${own} for update`,
      key,
    );
    if (!found) return null;
    const { event, body } = found;
    if (event !== null && body !== null) {
      await trx.raw(
        `update workflow_listener set taken_at = coalesce(taken_at, now()) where ${own}`,
        key,
      );
      return { event, body };
    }
    if (isEnding) await trx.raw(`delete from workflow_listener where ${own}`, key);
    return null;
  },

  /** Forgets those of executions that have ended. */
  async closeOf(trx: Knex, tenantId: string, executionIds: readonly string[]): Promise<void> {
    await trx.raw(
      'delete from workflow_listener where tenant_id = ? and execution_id = any(?::uuid[])',
      [tenantId, [...executionIds]] as string[],
    );
  },

  /** Tenants whose events wait. */
  tenants: async (db: Knex): Promise<string[]> => {
    const rows = await sqlRows<{ tenantId: string }>(
      db,
      `with recursive found as (
         (select tenant_id from workflow_event order by tenant_id limit 1)
         union all
         select (select tenant_id from workflow_event where tenant_id > found.tenant_id
           order by tenant_id limit 1)
         from found where found.tenant_id is not null
       )
       select tenant_id as "tenantId" from found where tenant_id is not null
         and not ${isSuspendedSql('found.tenant_id')} and not ${isFencedSql('found.tenant_id')}`,
      [],
    );
    return rows.map(({ tenantId }) => tenantId);
  },

  /**
   * The oldest events of a tenant that wait, and who listens for their kinds. Undefined: another process
   * reads them out, so that each listener hears them in their order.
   */
  async waiting(
    trx: Knex,
    tenantId: string,
  ): Promise<
    | { readonly events: readonly WaitingEvent[]; readonly listeners: readonly OpenListener[] }
    | undefined
  > {
    const [lock] = await sqlRows<{ got: boolean }>(
      trx,
      'select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as got',
      [`events/${tenantId}`],
    );
    if (lock?.got !== true) return undefined;
    const events = await sqlRows<WaitingEvent>(
      trx,
      `select id, seq::text, event, body from (
         select *, sum(octet_length(body)) over (order by seq rows unbounded preceding)
           - octet_length(body) as before
         from workflow_event where tenant_id = ?
         order by seq limit ?
       ) as oldest
       where before < ${eventBytesMax}
       order by seq`,
      [tenantId, eventsAtOnce],
    );
    const kinds = [...new Set(events.map(({ event }) => event))];
    const listeners = await sqlRows<OpenListener>(
      trx,
      `select ear.event, ear.execution_id as "executionId", ear.task_seq as seq, filters, variables,
         workflow_id as "workflowId", opened_after::text as "openedAfter"
       from workflow_ear as ear join workflow_listener using (tenant_id, execution_id, task_seq)
       where ear.tenant_id = ? and ear.event = any(?::text[])
       order by opened_after`,
      [tenantId, kinds] as string[],
    );
    return { events, listeners };
  },

  /** Keeps what listeners have heard: from then on they listen no more. */
  async hear(
    trx: Knex,
    tenantId: string,
    heard: readonly (ListenerKey & HeardRow)[],
    events: readonly WaitingEvent[],
  ): Promise<void> {
    for (const { executionId, seq, event, body } of heard) {
      const key = [tenantId, executionId, seq];
      await trx.raw(
        `update workflow_listener set heard_event = ?, heard_body = ?, heard_at = now()
         where ${own} and heard_at is null`,
        [event, body, ...key],
      );
      await trx.raw(`delete from workflow_ear where ${own}`, key);
    }
    await trx.raw('delete from workflow_event where tenant_id = ? and id = any(?::uuid[])', [
      tenantId,
      events.map(({ id }) => id),
    ] as string[]);
  },

  /** Executions to be told of what they have heard: again after a while, until they have read it. */
  toWake: (db: Knex): Promise<{ readonly workflowId: string; readonly seq: number }[]> =>
    sqlRows(
      db,
      `with chosen as (
         select tenant_id, execution_id, task_seq from workflow_listener
         where heard_at is not null and taken_at is null
           and (woken_at is null or woken_at < now() - interval '1 minute')
           and not ${isFencedSql('tenant_id')}
         order by woken_at nulls first limit ? for update skip locked
       )
       update workflow_listener as listener set woken_at = now() from chosen
       where listener.tenant_id = chosen.tenant_id and listener.execution_id = chosen.execution_id
         and listener.task_seq = chosen.task_seq
       returning listener.workflow_id as "workflowId", listener.task_seq as seq`,
      [wakesMax],
    ),
};
