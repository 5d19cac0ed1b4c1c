import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { Schedule } from '../../messages/definitions/definition.js';
import { eventsSql, type OutboxEvent } from '../../models/webhooks/webhook-event.js';
import {
  namedWorkflows,
  triggersMax,
  WorkflowStarts,
  WorkflowTrigger,
} from '../../models/workflows/trigger.js';
import { webhookBody, type WebhookOrigin } from '../webhooks/webhook-event.js';

/**
 * Keeps which kind of event starts a workflow, with its version, in the transaction that publishes or
 * hides it (spec/beyond.md R337). 409: enough others are started by that kind.
 */
export async function keepTrigger(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  { definitionId, version }: { readonly definitionId: string; readonly version: number },
  schedule: Schedule | undefined,
): Promise<void> {
  const own = () => WorkflowTrigger.query(trx).forTenant(tenantId);
  await own().where({ definitionId }).delete();
  const filter = schedule?.on?.one.with;
  if (filter === undefined) return;
  const { type: event, data: condition = null } = filter;
  // Of two that are published at once, the second sees the first.
  const key = `triggers/${tenantId}`;
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [key]);
  if ((await own().where({ event }).resultSize()) >= triggersMax) {
    throw problem.conflict(
      `'${event}' starts ${triggersMax} workflows already, the most that it may start.`,
      { field: 'definition.schedule.on' },
    );
  }
  await WorkflowTrigger.keep(trx, tenantId, { definitionId, version, event, condition });
}

/**
 * Starts workflows of the tenant that are named by what has happened, such as an alert, in its
 * transaction. One that is gone meanwhile is not started.
 */
export async function startNamedWorkflows(
  trx: Knex.Transaction,
  { tenantId, now, depth = 0 }: WebhookOrigin,
  event: string,
  starts: readonly {
    readonly workflowId: string;
    readonly recordId: string;
    readonly data: object;
  }[],
): Promise<void> {
  if (starts.length === 0) return;
  const at = now();
  const events: OutboxEvent[] = [];
  for (const { workflowId, recordId, data } of starts) {
    events.push({ event: workflowId, recordId, body: await webhookBody(event, at, data) });
  }
  const input = eventsSql(events);
  const targets = namedWorkflows(tenantId, event);
  await WorkflowStarts.record(trx, tenantId, input, { at, depth }, targets);
}
