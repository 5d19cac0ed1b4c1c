import type { Attack } from '../attack.js';
import { edgeAttacks } from './edge.js';
import { exportAttacks } from './exports.js';
import { flowAttacks } from './flows.js';
import { jsonAttacks } from './json.js';
import { multipliedAttacks } from './multiplied.js';
import { oauthAttacks } from './oauth.js';
import { operationAttacks } from './operations.js';
import { ratingAttacks } from './rating.js';
import { recordAttacks } from './records.js';
import { webhookAttacks } from './webhooks.js';

/** Every attack; those that need another environment come last. */
export const attacks: readonly Attack[] = [
  ...edgeAttacks,
  ...jsonAttacks,
  ...oauthAttacks,
  ...recordAttacks,
  ...ratingAttacks,
  ...flowAttacks,
  ...multipliedAttacks,
  ...webhookAttacks,
  ...exportAttacks,
  ...operationAttacks,
].sort((a, b) => Number(a.needsPrivateWebhooks ?? false) - Number(b.needsPrivateWebhooks ?? false));
