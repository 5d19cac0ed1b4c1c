import { sealAudit } from '../../models/access/audit-seal.js';
import type { Platform } from '../../process/platform.js';

/** Seals new entries of the audit in the background; returns how many were sealed. */
export const sealAuditEntries = ({ database }: Platform, entriesMax: number): Promise<number> =>
  sealAudit(database.platform, entriesMax);
