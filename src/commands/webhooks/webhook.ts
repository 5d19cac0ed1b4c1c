import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { testEvent, type DeliveryStatus } from '../../messages/webhook.js';
import { newRound, WebhookDelivery } from '../../models/webhooks/webhook-delivery.js';
import { WebhookOutbox } from '../../models/webhooks/webhook-event.js';
import { Webhook, WebhookFailure, WebhookSecret } from '../../models/webhooks/webhook.js';
import {
  missingDelivery,
  missingWebhook,
  presentWebhook,
  readWebhook,
  readWebhookDelivery,
} from '../../queries/webhooks/webhook.js';
import { readDateOrInstant } from '../../schemas/fields/date-or-instant.js';
import {
  overlapSecondsDefault,
  type WebhookCreate,
  type WebhookDeliveryDto,
  type WebhookDto,
  type WebhookRecovered,
  type WebhookRecovery,
  type WebhookRegistration,
  type WebhookRotation,
  type WebhookSecretReply,
  type WebhookUpdate,
} from '../../schemas/webhooks/webhook.js';
import { webhookBody } from './webhook-event.js';

/** Functions of the platform that commands on webhooks call. */
export interface WebhookPorts {
  /** Makes of a secret what may stand in the database. */
  readonly seal: (secret: string) => string;
  /** Makes a secret. */
  readonly newSecret: () => string;
  /** Why deliveries to an address are refused; undefined if they are not. */
  readonly findRefusal: (url: string) => Promise<string | undefined>;
}

const urlProblem = (url: string, why: string) =>
  problem.validation(`'url' ${why}`, { field: 'url', value: url });

/** 400: the text is no URL, or deliveries to it are refused. */
async function checkUrl(url: string, { findRefusal }: WebhookPorts): Promise<void> {
  if (!URL.canParse(url)) throw urlProblem(url, 'is not the address of a host');
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw urlProblem(url, 'must not have a user or a password');
  }
  const refusal = await findRefusal(url);
  if (refusal !== undefined) throw urlProblem(url, `is refused: ${refusal}`);
}

const putSecret = async (
  trx: Knex.Transaction,
  { tenantId, realNow }: Scope,
  webhookId: string,
  sealed: string,
): Promise<void> => {
  await WebhookSecret.query(trx)
    .forTenant(tenantId)
    .insert({ webhookId, sealed, createdAt: realNow() });
};

/** Maximum webhooks of a tenant: a change of a record writes a delivery for each that wants it. */
const webhooksMax = 100;

/** 409: the tenant has as many webhooks as it may have. Held until the transaction ends. */
async function checkNumber(trx: Knex.Transaction, tenantId: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`webhook/${tenantId}`]);
  const count = await Webhook.query(trx).forTenant(tenantId).resultSize();
  if (count < webhooksMax) return;
  throw problem.conflict(`There are ${webhooksMax} webhooks already: delete one first.`, {
    field: 'url',
  });
}

/** Registers a webhook. 400: the address is refused. 409: there are too many. */
export async function createWebhook(
  scope: Scope,
  { url, events, secret, active }: Static<typeof WebhookCreate>,
  ports: WebhookPorts,
): Promise<Static<typeof WebhookRegistration>> {
  await checkUrl(url, ports);
  return scope.db.transaction(async (trx) => {
    await checkNumber(trx, scope.tenantId);
    const now = scope.realNow();
    const webhook = await Webhook.query(trx)
      .forTenant(scope.tenantId)
      .insert({
        url,
        events: [...new Set(events)],
        active: active ?? true,
        disabledReason: null,
        disabledAt: null,
        createdAt: now,
        updatedAt: now,
      });
    await putSecret(trx, scope, webhook.id, ports.seal(secret));
    const { id, ...shown } = presentWebhook(webhook);
    return { id, url, events: shown.events, active: shown.active, createdAt: shown.createdAt };
  });
}

/** The webhook, held until the transaction ends. 404: there is none. */
async function lockWebhook(trx: Knex.Transaction, scope: Scope, id: string): Promise<Webhook> {
  const webhook = await Webhook.query(trx).forTenant(scope.tenantId).findOne({ id }).forUpdate();
  if (!webhook) throw missingWebhook(id);
  return webhook;
}

/** One that can be sent to. 404: there is none. 409: it is switched off. */
async function lockActive(trx: Knex.Transaction, scope: Scope, id: string): Promise<Webhook> {
  const webhook = await lockWebhook(trx, scope, id);
  if (webhook.active) return webhook;
  throw problem.conflict('The webhook is switched off: change it to active first.', {
    field: 'active',
  });
}

/**
 * Switches a webhook on or off: on, its failures are forgotten; off, waiting deliveries are given
 * up.
 */
async function setActive(
  trx: Knex.Transaction,
  scope: Scope,
  webhook: Webhook,
  active: boolean,
): Promise<void> {
  const { tenantId } = scope;
  const state = { active, disabledReason: null, disabledAt: null };
  await webhook.$query(trx).forTenant(tenantId).patch(state);
  if (active) await WebhookFailure.clear(trx, tenantId, webhook.id);
  else {
    const reason = 'The webhook was switched off.';
    await WebhookDelivery.giveUp(trx, tenantId, webhook.id, reason, scope.realNow());
  }
}

/** Changes what is given. 400: the address is refused. 404: there is no such webhook. */
export async function updateWebhook(
  scope: Scope,
  id: string,
  { url, events, secret, active }: Static<typeof WebhookUpdate>,
  ports: WebhookPorts,
): Promise<WebhookDto> {
  if (url !== undefined) await checkUrl(url, ports);
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const webhook = await lockWebhook(trx, scope, id);
    await webhook
      .$query(trx)
      .forTenant(tenantId)
      .patch({
        ...defined({ url }),
        ...(events === undefined ? {} : { events: [...new Set(events)] }),
        updatedAt: scope.realNow(),
      });
    if (active !== undefined && active !== webhook.active) {
      await setActive(trx, scope, webhook, active);
    }
    if (secret !== undefined) {
      await WebhookSecret.query(trx).forTenant(tenantId).where({ webhookId: id }).delete();
      await putSecret(trx, scope, id, ports.seal(secret));
    }
    return readWebhook(trx, tenantId, id);
  });
}

/** Deletes a webhook with its deliveries. 404: there is none. */
export async function deleteWebhook(scope: Scope, id: string): Promise<void> {
  const { tenantId } = scope;
  await scope.db.transaction(async (trx) => {
    const webhook = await lockWebhook(trx, scope, id);
    await WebhookSecret.query(trx).forTenant(tenantId).where({ webhookId: id }).delete();
    await WebhookFailure.clear(trx, tenantId, id);
    await WebhookDelivery.deleteOf(trx, tenantId, id);
    await webhook.$query(trx).forTenant(tenantId).delete();
  });
}

/** Secrets of a webhook that are valid at the same time: each delivery is signed with all of them. */
const secretsMax = 10;

/**
 * Gives a webhook a new secret; the former is valid for a while. 404: there is no such webhook. 409: too
 * many are valid.
 */
export async function rotateWebhookSecret(
  scope: Scope,
  id: string,
  { secret, overlapSeconds }: Static<typeof WebhookRotation>,
  { seal, newSecret }: WebhookPorts,
): Promise<Static<typeof WebhookSecretReply>> {
  const { tenantId } = scope;
  const next = secret ?? newSecret();
  return scope.db.transaction(async (trx) => {
    await lockWebhook(trx, scope, id);
    const overlapMs = (overlapSeconds ?? overlapSecondsDefault) * 1000;
    const expiresAt = new Date(scope.realNow().getTime() + overlapMs);
    // The new secret must not extend the life of secrets that were rotated before.
    const secrets = () => WebhookSecret.query(trx).forTenant(tenantId).where({ webhookId: id });
    await secrets().where('expiresAt', '<=', scope.realNow()).delete();
    await secrets().whereNull('expiresAt').patch({ expiresAt });
    if ((await secrets().resultSize()) >= secretsMax) {
      throw problem.conflict(
        `${secretsMax} secrets of the webhook are still valid: PUT a secret, which ends them, or wait.`,
        { field: 'overlapSeconds' },
      );
    }
    await putSecret(trx, scope, id, seal(next));
    return { secret: next, formerValidUntil: expiresAt.toISOString() };
  });
}

/** Sends the event `webhook.test`. 404: there is no such webhook. 409: it is switched off. */
export async function testWebhook(scope: Scope, id: string): Promise<WebhookDeliveryDto> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    await lockActive(trx, scope, id);
    const at = scope.realNow();
    const data = { webhookId: id, message: 'This is a test.' };
    const event = { event: testEvent, recordId: id, body: await webhookBody(testEvent, at, data) };
    await WebhookOutbox.record(trx, tenantId, [event], { at, webhookId: id });
    const delivery = await WebhookDelivery.query(trx)
      .forTenant(tenantId)
      .where({ webhookId: id, event: testEvent })
      .orderBy('seq', 'desc')
      .first();
    return readWebhookDelivery(trx, tenantId, delivery?.id ?? id);
  });
}

/**
 * Sends a delivery again, whatever its status; one that is under way is only sent sooner. 404:
 * there is no such webhook or delivery. 409: the webhook is switched off.
 */
export async function redeliverWebhook(
  scope: Scope,
  webhookId: string,
  id: string,
): Promise<WebhookDeliveryDto> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    await lockActive(trx, scope, webhookId);
    const delivery = await WebhookDelivery.query(trx)
      .forTenant(tenantId)
      .findOne({ id, webhookId })
      .forUpdate();
    if (!delivery) throw missingDelivery(id);
    if (delivery.status !== 'pending' && delivery.status !== 'sending') {
      const round = delivery.round + 1;
      await delivery
        .$query(trx)
        .forTenant(tenantId)
        .patch({ ...newRound, round });
    }
    return readWebhookDelivery(trx, tenantId, id);
  });
}

/**
 * Sends failed deliveries since an instant again, in their order, with `includeDelivered` the
 * delivered ones, too. 404: there is no such webhook. 409: it is switched off.
 */
export async function recoverWebhook(
  scope: Scope,
  webhookId: string,
  { since, includeDelivered }: Static<typeof WebhookRecovery>,
): Promise<Static<typeof WebhookRecovered>> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    await lockActive(trx, scope, webhookId);
    const statuses: DeliveryStatus[] =
      includeDelivered === true ? ['failed', 'delivered'] : ['failed'];
    // A year that the database does not support is replaced by the first one that it does.
    const from = readDateOrInstant(since)?.from ?? since;
    return {
      deliveries: await WebhookDelivery.recover(trx, tenantId, webhookId, statuses, from),
    };
  });
}
