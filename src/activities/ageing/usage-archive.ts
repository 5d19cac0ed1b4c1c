import { Context } from '@temporalio/activity';
import { archivePortion, markArchive } from '../../commands/ageing/archive-usage.js';
import type {
  ArchivedPortion,
  ArchivePlace,
  UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import { findArchiveObstacle } from '../../models/ageing/usage-archive.js';
import type { Platform } from '../../process/platform.js';
import { alive } from '../long-steps-at-once.js';
import { archiveMeans, archiveRefusal } from './archive-step.js';
import { portionsOfStep } from './portions-of-step.js';

export function usageArchiveActivities(platform: Platform) {
  const { metrics, log } = platform;
  const { scopeOf, requireFiles } = archiveMeans(platform);

  return {
    /** Refuses a month that is not over, or whose usage still waits. */
    beginUsageArchive: (archive: UsageArchive): Promise<void> =>
      alive(archive.tenantId, async () => {
        requireFiles();
        const scope = scopeOf(archive);
        const obstacle = await findArchiveObstacle(scope.db.read, archive);
        if (obstacle !== null) throw archiveRefusal(obstacle);
        await markArchive(scope, archive, 'writing');
      }),

    /** Archives rows from a place on, for some seconds. */
    archiveUsageRows: ({ place, ...archive }: UsageArchive & { readonly place: ArchivePlace }) =>
      alive(archive.tenantId, async (): Promise<ArchivedPortion> => {
        const scope = scopeOf(archive);
        let archived: ArchivedPortion;
        try {
          archived = await portionsOfStep(place, (from) =>
            archivePortion(scope, requireFiles(), archive, from),
          );
        } catch (error) {
          metrics.archiveFailures.inc();
          const { attempt } = Context.current().info;
          log.warn({ err: error, ...archive, attempt }, 'cannot archive usage; trying again');
          throw error;
        }
        metrics.archivedRows.inc(archived.rows);
        return archived;
      }),

    /** Notes that a month is archived whole. */
    endUsageArchive: (archive: UsageArchive): Promise<void> =>
      alive(archive.tenantId, () => markArchive(scopeOf(archive), archive, 'complete')),
  };
}
