import { sealAuditEntries } from '../activities/access/audit-chain.js';
import type { Platform } from '../process/platform.js';
import { watchCells, type Stoppable } from './watch.js';

const sealMs = 500;
/**
 * Entries sealed in one transaction: some milliseconds. The dearest, changes of records of half a million values,
 * take 70 ms each, and together less than a statement may.
 */
const entriesMax = 100;

/**
 * Seals new entries of the audit in the background, in each cell. Every process with workers runs it; an advisory
 * lock admits one at a time.
 */
export const startAuditSealer = (platform: Platform): Stoppable =>
  watchCells(platform, (cell) => ({
    everyMs: sealMs,
    failure: 'the audit cannot be sealed; trying again',
    look: async (watch) => {
      while (!watch.isStopped && (await sealAuditEntries(cell, entriesMax)) === entriesMax);
    },
  }));
