import { randomBytes } from 'node:crypto';

/** What secrets of webhooks begin with (Standard Webhooks). */
export const webhookSecretPrefix = 'whsec_';

/** Makes a secret of the form that Standard Webhooks recommends. */
export const newWebhookSecret = (): string =>
  `${webhookSecretPrefix}${randomBytes(32).toString('base64')}`;
