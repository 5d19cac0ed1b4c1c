import { keepPartitions } from '../activities/usage/usage-partition.js';
import type { Platform } from '../process/platform.js';
import { watchCells, type Stoppable } from './watch.js';

/** A month begins rarely, but a database that was just filled is to be known soon. */
const everyMsByDefault = 60_000;

/**
 * Makes partitions of usage before the months begin, in each cell (docs/decisions/0344). Every process
 * with workers runs it; a lock admits one at a time.
 */
export const startPartitionWatch = (platform: Platform, everyMs = everyMsByDefault): Stoppable =>
  watchCells(platform, (cell) => ({
    everyMs,
    // A process that was stopped for months finds none of this month.
    looksAtOnce: true,
    failure: 'cannot make partitions of usage ahead; trying again',
    look: () => keepPartitions(platform, cell),
  }));
