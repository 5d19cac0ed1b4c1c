import {
  createWebhook,
  deleteWebhook,
  recoverWebhook,
  redeliverWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  type WebhookPorts,
} from '../../../commands/webhooks/webhook.js';
import { defined } from '../../../kernel/defined.js';
import type { Platform } from '../../../process/platform.js';
import { newWebhookSecret } from '../../../platform/webhook-secret.js';
import {
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
} from '../../../queries/webhooks/webhook.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

const portsOf = ({ secrets, webhooks }: Platform): WebhookPorts => ({
  seal: (secret) => secrets.seal(secret),
  newSecret: newWebhookSecret,
  findRefusal: (url) => webhooks.findRefusal(url),
});

export const webhookHandlers: Handlers<Operations['webhook']> = {
  list: ({ query }, scope) => listWebhooks(scope, query),
  create: ({ body }, scope, platform) => createWebhook(scope, body, portsOf(platform)),
  get: ({ params }, scope) => getWebhook(scope, params.webhookId),
  update: ({ params, body }, scope, platform) =>
    updateWebhook(scope, params.webhookId, body, portsOf(platform)),
  delete: ({ params }, scope) => deleteWebhook(scope, params.webhookId),
  rotateSecret: ({ params, body }, scope, platform) =>
    rotateWebhookSecret(scope, params.webhookId, body, portsOf(platform)),
  test: ({ params }, scope) => testWebhook(scope, params.webhookId),
  recover: ({ params, body }, scope) => recoverWebhook(scope, params.webhookId, body),
  listDeliveries: ({ params, query: { status, event, limit, offset } }, scope) =>
    listWebhookDeliveries(scope, params.webhookId, defined({ status, event }), { limit, offset }),
  redeliver: ({ params }, scope) => redeliverWebhook(scope, params.webhookId, params.deliveryId),
};
