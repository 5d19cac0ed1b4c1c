import { sealAuditEntries } from '../activities/access/audit-chain.js';
import type { Platform } from '../process/platform.js';
import { watchCells, type Stoppable } from './watch.js';

const sealMs = 500;
/** Entries sealed in one transaction, which takes about 0.1 s. */
const entriesMax = 2_000;

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
