import type { Attack } from '../attack.js';
import { balanceAttacks } from './balances.js';
import { edgeAttacks } from './edge.js';
import { exportAttacks } from './exports.js';
import { flowAttacks } from './flows.js';
import { jsonAttacks } from './json.js';
import { listAttacks } from './lists.js';
import { multipliedAttacks } from './multiplied.js';
import { oauthAttacks } from './oauth.js';
import { operationAttacks } from './operations.js';
import { ratingAttacks } from './rating.js';
import { recordAttacks } from './records.js';
import { sandboxAttacks } from './sandboxes.js';
import { signInAttacks } from './sign-in.js';
import { webhookAttacks } from './webhooks.js';
import { workflowAttacks } from './workflows.js';

/** Those that need another environment come late, and those with the longest to rate last. */
const placeOf = ({ needsPrivateWebhooks, leavesUsage }: Attack): number =>
  Number(needsPrivateWebhooks ?? false) + 2 * Number(leavesUsage ?? false);

/** Every attack, in the order in which they are tried. */
export const attacks: readonly Attack[] = [
  ...edgeAttacks,
  ...jsonAttacks,
  ...oauthAttacks,
  ...signInAttacks,
  ...recordAttacks,
  ...ratingAttacks,
  ...flowAttacks,
  ...balanceAttacks,
  ...listAttacks,
  ...multipliedAttacks,
  ...webhookAttacks,
  ...workflowAttacks,
  ...sandboxAttacks,
  ...exportAttacks,
  ...operationAttacks,
].sort((a, b) => placeOf(a) - placeOf(b));
