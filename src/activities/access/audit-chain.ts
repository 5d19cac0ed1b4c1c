import { sealAudit } from '../../models/access/audit-chain.js';
import type { Cell } from '../../platform/database/cell.js';

/** Seals new entries of the audit in the background; returns how many were sealed. */
export const sealAuditEntries = ({ platform }: Cell, entriesMax: number): Promise<number> =>
  sealAudit(platform, entriesMax);
