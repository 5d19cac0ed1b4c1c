import { removeAged } from '../../src/commands/ageing/remove-aged.js';
import type { RetentionKind } from '../../src/kernel/retention.js';
import { setRetention } from '../../src/models/access/retention-rule.js';
import type { TestInstance, TestTenant } from './servers/instance.js';

/** The same instant so many days ahead. */
export const inDays = (days: number) => (): Date => new Date(Date.now() + days * 86_400_000);

/** Sets how long a kind of a tenant's data is kept. */
export const keepFor = (
  { platform }: TestInstance,
  { id }: TestTenant,
  kind: RetentionKind,
  days: number | null | undefined,
): Promise<void> => setRetention(platform.database.platform, id, kind, days);

/** Removes what is too old of a kind so many days ahead; returns how much went. */
export async function removeAllAged(
  { scope }: TestTenant,
  kind: RetentionKind,
  days: number,
): Promise<number> {
  const later = { ...scope, now: inDays(days) };
  let count = 0;
  let after: Parameters<typeof removeAged>[2] = null;
  for (;;) {
    const { removed, isLast, next = null } = await removeAged(later, kind, after);
    count += removed;
    if (isLast) return count;
    after = next;
  }
}
