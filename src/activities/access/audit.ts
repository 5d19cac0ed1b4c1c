import { sealAudit } from '../../models/access/audit-seal.js';
import type { Platform } from '../../process/platform.js';

/** Seals entries of the audit behind their writers; tells how many it could. */
export const sealAuditEntries = ({ database }: Platform, entriesMax: number): Promise<number> =>
  sealAudit(database.platform, entriesMax);
