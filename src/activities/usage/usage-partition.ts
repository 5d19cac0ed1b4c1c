import {
  agesOf,
  analyzePartitions,
  listUsagePartitions,
  makePartitionsAhead,
} from '../../models/usage/finding/usage-partition.js';
import { countArchiveMonths } from '../../models/ageing/usage-archive.js';
import { archiveStates } from '../../messages/ageing/usage-archive.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';

/**
 * Makes the partitions of the next months in a cell, has the planner know the tables, and shows how far
 * the partitions reach (docs/decisions/0344).
 */
export async function keepPartitions(
  { metrics, log, now }: Platform,
  { name, platform }: Cell,
): Promise<void> {
  const made = await makePartitionsAhead(platform);
  if (made > 0) log.info({ cell: name, made }, 'made partitions of usage for the next months');
  const events = (await listUsagePartitions(platform)).filter(
    ({ parent }) => parent === 'usage_event',
  );
  const at = now();
  const { filled, madeUntil, oldestEnd } = agesOf(events, at);
  const secondsUntil = (end: Date): number => (end.getTime() - at.getTime()) / 1000;
  metrics.usagePartitions.set({ cell: name }, filled);
  metrics.usagePartitionsAhead.set({ cell: name }, secondsUntil(madeUntil));
  metrics.usagePartitionAge.set(
    { cell: name },
    oldestEnd === null ? 0 : Math.max(0, -secondsUntil(oldestEnd)),
  );
  const months = new Map(
    (await countArchiveMonths(platform)).map((each) => [each.state, each.count]),
  );
  for (const state of archiveStates) {
    metrics.archiveMonths.set({ cell: name, state }, months.get(state) ?? 0);
  }
  await analyzePartitions(platform);
}
