import { ApplicationFailure } from '@temporalio/common';
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type {
  ArchivedPortion,
  ArchivePlace,
  UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import type { UsageDrop, UsageDropped } from '../../messages/ageing/usage-drop.js';

/**
 * A store that is full or away is waited for, however long; nothing else waits for the archive. A worker
 * that was killed is noticed within seconds.
 */
const steps = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Archives a month of a tenant's usage in Parquet, file by file, each read back and compared before it
 * counts (docs/decisions/0345); returns how many rows there are.
 */
export async function archiveUsage({ tenantId, month }: UsageArchive): Promise<number> {
  const archive: UsageArchive = { tenantId, month };
  await steps.beginUsageArchive(archive);
  let rows = 0;
  let place: ArchivePlace | null = { kind: 'usage_event', after: null };
  while (place !== null) {
    const portion: ArchivedPortion = await steps.archiveUsageRows({ ...archive, place });
    rows += portion.rows;
    place = portion.next;
  }
  await steps.endUsageArchive(archive);
  return rows;
}

/** How often a drop begins again because rows were written while it compared them. */
const dropAttemptsMax = 5;

/**
 * Drops an archived month of tenants from the database (docs/decisions/0346): each row is compared with
 * the archive, and only what has not been written since is dropped.
 */
export async function dropUsage({ tenantId, tenants, month }: UsageDrop): Promise<UsageDropped> {
  const drop: UsageDrop = { tenantId, tenants, month };
  for (let attempt = 1; ; attempt += 1) {
    await steps.beginUsageDrop(drop);
    let compared = 0;
    for (const of of tenants) {
      let place: ArchivePlace | null = { kind: 'usage_event', after: null };
      while (place !== null) {
        const portion: ArchivedPortion = await steps.compareArchivedUsage({ ...drop, of, place });
        compared += portion.rows;
        place = portion.next;
      }
    }
    const end = await steps.finishUsageDrop(drop);
    if (end.kind === 'dropped') return { compared, kept: end.kept, freedBytes: end.freedBytes };
    if (attempt === dropAttemptsMax) {
      throw ApplicationFailure.nonRetryable(end.message, 'ArchiveRefused');
    }
  }
}

/** Brings a month of a tenant back into the database, row by row; returns how many there are. */
export async function restoreUsage({ tenantId, month }: UsageArchive): Promise<number> {
  const archive: UsageArchive = { tenantId, month };
  let rows = 0;
  let place: ArchivePlace | null = { kind: 'usage_event', after: null };
  while (place !== null) {
    const portion: ArchivedPortion = await steps.restoreUsageRows({ ...archive, place });
    rows += portion.rows;
    place = portion.next;
  }
  await steps.endUsageRestore(archive);
  return rows;
}
