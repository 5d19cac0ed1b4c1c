import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type {
  ArchivedPortion,
  ArchivePlace,
  UsageArchive,
} from '../../messages/ageing/usage-archive.js';

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
