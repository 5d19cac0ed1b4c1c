import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '../../process/platform.js';

/** Less than a refused client is told to wait before it sends the next request; not all at the same moment. */
const heldMs = { least: 250, most: 750 };

/**
 * Holds what is refused to a tenant (429) while requests of others are late: a client that sends the next request
 * as soon as one is answered would fill the process with refusals (docs/decisions/0528).
 */
export async function holdRefusal({ shares }: Platform, tenantId: string): Promise<void> {
  if (!shares.isLateForOthersThan(tenantId)) return;
  await wait(heldMs.least + Math.random() * (heldMs.most - heldMs.least));
}
