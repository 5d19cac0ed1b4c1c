/** A month that leaves the database, as its workflow is given it. */
export interface UsageDrop {
  /** The first of the tenants, for whom the workflow works. */
  readonly tenantId: string;
  /** Whose usage it is; all are in one cell. */
  readonly tenants: readonly string[];
  /** `2026-10`: the month of receipt, in UTC. */
  readonly month: string;
}

/** What became of it. */
export interface UsageDropped {
  /** Rows of these tenants that were compared with the archive, each of them. */
  readonly compared: number;
  /** Rows of the partitions that stay in the database: those of others, and what the archive has not. */
  readonly kept: number;
  /** How many bytes of disk were given back. */
  readonly freedBytes: number;
}

/** A month is dropped once at a time, whoever's it is. */
export const usageDropId = ({ tenantId, month }: UsageDrop): string =>
  `${tenantId}/archive-drop/${month}`;

/** The workflow id of bringing a month back. */
export const usageRestoreId = ({
  tenantId,
  month,
}: {
  readonly tenantId: string;
  readonly month: string;
}): string => `${tenantId}/archive-restore/${month}`;

/** Tenants that one drop may name. */
export const dropTenantsMax = 100;
