import type { Knex } from 'knex';
import { raw } from 'objection';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { DeliveryStatus, WebhookEvent } from '../../messages/webhook.js';
import { WebhookDelivery, type OpenDeliveries } from '../../models/webhooks/webhook-delivery.js';
import { Webhook } from '../../models/webhooks/webhook.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type { WebhookDeliveryDto, WebhookDto } from '../../schemas/webhooks/webhook.js';
import type { ExecutionRecord } from '../flows/execution.js';
import type { TenantQueryBuilder } from '../../models/db/tenant-model.js';
import { listHeavyPage, listPage, type RowWeight } from '../lists/listing.js';
import { findToldRecords, recordTypeOf, type ToldRecord } from './told-record.js';

export const missingWebhook = (id: string) => problem.notFound(`There is no webhook '${id}'.`);
export const missingDelivery = (id: string) => problem.notFound(`There is no delivery '${id}'.`);

const instant = (at: Date | null): string | null => at?.toISOString() ?? null;

/** A webhook with the instant since which nothing has reached it. */
type ReadWebhook = Webhook & { readonly failingSince?: Date | null };

export function presentWebhook(webhook: ReadWebhook): WebhookDto {
  const { id, url, events, active, disabledReason } = webhook;
  return {
    id,
    url,
    events: events as WebhookEvent[],
    active,
    createdAt: webhook.createdAt.toISOString(),
    updatedAt: webhook.updatedAt.toISOString(),
    disabledReason,
    disabledAt: instant(webhook.disabledAt),
    failingSince: instant(webhook.failingSince ?? null),
  };
}

/** Webhooks as they are read. */
function webhooks(db: Knex, tenantId: string) {
  return Webhook.query(db)
    .forTenant(tenantId)
    .select(
      'webhook.*',
      raw(`(select since from webhook_failure as failure
        where failure.tenant_id = webhook.tenant_id and failure.webhook_id = webhook.id)
        as failing_since`),
    );
}

/** Deliveries of all tenants that have not ended, for operators. */
export const findWebhookBacklog = (db: Knex): Promise<readonly OpenDeliveries[]> =>
  WebhookDelivery.countOpen(db);

/** One page of the webhooks, the oldest first. */
export function listWebhooks(scope: Scope, page: PageRequest): Promise<Listed<WebhookDto>> {
  const query = webhooks(scope.db.read, scope.tenantId).orderBy('webhook.id');
  return listPage(query, page, presentWebhook);
}

/** A webhook by id, also inside a transaction. 404: there is none. */
export async function readWebhook(db: Knex, tenantId: string, id: string): Promise<WebhookDto> {
  const webhook = await webhooks(db, tenantId).findOne('webhook.id', id);
  if (!webhook) throw missingWebhook(id);
  return presentWebhook(webhook);
}

/** A webhook by id. 404: there is none. */
export const getWebhook = (scope: Scope, id: string): Promise<WebhookDto> =>
  readWebhook(scope.db.read, scope.tenantId, id);

function presentDelivery(
  delivery: WebhookDelivery,
  records: ReadonlyMap<string, ToldRecord>,
): WebhookDeliveryDto {
  const { id, webhookId, event, recordId, status, reason } = delivery;
  const told = records.get(recordId);
  return {
    id,
    webhookId,
    event,
    recordId,
    recordType: recordTypeOf(event),
    recordName: told?.name ?? null,
    workflowId: told?.workflowId ?? null,
    accountId: told?.accountId ?? null,
    status,
    reason,
    createdAt: delivery.createdAt.toISOString(),
    nextAttemptAt: instant(delivery.nextAttemptAt),
    endedAt: instant(delivery.endedAt),
    attempts: (delivery.tries ?? []).map((attempt) => {
      const { round, number, durationMs, statusCode, error, answer } = attempt;
      const startedAt = attempt.startedAt.toISOString();
      return { round, number, startedAt, durationMs, statusCode, error, answer };
    }),
  };
}

/** An attempt as it is answered, beside the answer that it got. */
const attemptBytes = 200;

const deliveryWeight: RowWeight<WebhookDelivery> = {
  sql: `coalesce((
      select sum(${attemptBytes} + coalesce(octet_length(answer), 0) + coalesce(octet_length(error), 0))
      from webhook_attempt as attempt
      where attempt.tenant_id = webhook_delivery.tenant_id
        and attempt.delivery_id = webhook_delivery.id
    ), 0)`,
  bytesOf: ({ tries = [] }) =>
    tries.reduce(
      (sum, { answer, error }) => sum + attemptBytes + (answer?.length ?? 0) + (error?.length ?? 0),
      0,
    ),
};

/** A page of deliveries, with what the records are called that they tell of. */
async function listDeliveries(
  { db, tenantId }: Scope,
  query: TenantQueryBuilder<WebhookDelivery>,
  page: PageRequest,
): Promise<Listed<WebhookDeliveryDto>> {
  const chosen = query.orderBy('seq', 'desc').withGraphFetched('tries');
  const { items, ...counted } = await listHeavyPage(chosen, page, (row) => row, deliveryWeight);
  const records = await findToldRecords(db.read, tenantId, items);
  return { ...counted, items: items.map((delivery) => presentDelivery(delivery, records)) };
}

interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly event?: string;
}

/** One page of the deliveries to a webhook, the latest first. 404: there is no such webhook. */
export async function listWebhookDeliveries(
  scope: Scope,
  webhookId: string,
  { status, event }: DeliveryFilter,
  page: PageRequest,
): Promise<Listed<WebhookDeliveryDto>> {
  const { db, tenantId } = scope;
  await getWebhook(scope, webhookId);
  const query = WebhookDelivery.query(db.read).forTenant(tenantId).where({ webhookId });
  if (status !== undefined) void query.where({ status });
  if (event !== undefined) void query.where({ event });
  return listDeliveries(scope, query, page);
}

/** The id with which a request ends: its own, or that of what started something by itself. */
const requestIdForm = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * One page of the deliveries that followed an execution (spec/beyond.md R464): its calls are made under its
 * own id, all else under that of the request that started it.
 */
export function listExecutionDeliveries(
  scope: Scope,
  { id, requestId }: Pick<ExecutionRecord, 'id' | 'requestId'>,
  page: PageRequest,
): Promise<Listed<WebhookDeliveryDto>> {
  const request = requestIdForm.exec(requestId ?? '')?.[0];
  const query = WebhookDelivery.query(scope.db.read)
    .forTenant(scope.tenantId)
    .whereIn('requestId', [id, ...(request === undefined ? [] : [request])]);
  return listDeliveries(scope, query, page);
}

/** A delivery with its attempts, inside a transaction. 404: there is none. */
export async function readWebhookDelivery(
  trx: Knex,
  tenantId: string,
  id: string,
): Promise<WebhookDeliveryDto> {
  const delivery = await WebhookDelivery.query(trx)
    .forTenant(tenantId)
    .findOne({ id })
    .withGraphFetched('tries');
  if (!delivery) throw missingDelivery(id);
  return presentDelivery(delivery, await findToldRecords(trx, tenantId, [delivery]));
}
