import { markArchive } from '../../commands/ageing/archive-usage.js';
import { comparePortion, type ComparedPortion } from '../../commands/ageing/compare-archive.js';
import { restorePortion } from '../../commands/ageing/restore-usage.js';
import type {
  ArchivedPortion,
  ArchivePlace,
  UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import type { UsageDrop } from '../../messages/ageing/usage-drop.js';
import {
  abandonUsageDrop,
  findDropObstacle,
  finishUsageDrop,
  isMonthDropped,
  markRestored,
  noteMonthTimes,
  prepareUsageDrop,
  watchUsagePartitions,
  type DropEnd,
} from '../../models/ageing/usage-drop.js';
import { findMonthDifference } from '../../models/ageing/usage-archive.js';
import { everyTenant } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { alive } from '../long-steps-at-once.js';
import { archiveMeans, archiveRefusal, archiveTrail } from './archive-step.js';
import { portionsOfStep } from './portions-of-step.js';

/** The months of the tenants, of which each has an archive of its own. */
const archivesOf = ({ tenants, month }: UsageDrop): UsageArchive[] =>
  tenants.map((tenantId) => ({ tenantId, month }));

export const usageDropActivities = (platform: Platform) => ({
  ...dropActivities(platform),
  ...compareActivities(platform),
  ...restoreActivities(platform),
});

function dropActivities(platform: Platform) {
  const { database, metrics, log, now } = platform;
  const { scopeOf, requireFiles } = archiveMeans(platform);
  /** The platform's handle in the cell of the tenants, which is that of the first one. */
  const platformOf = async ({ tenantId }: UsageDrop) =>
    (await database.cellOf(tenantId)).forTenant(everyTenant, archiveTrail, 'batch').read;

  const areDropped = async (drop: UsageDrop): Promise<boolean> => {
    for (const archive of archivesOf(drop)) {
      if (!(await isMonthDropped(scopeOf(archive).db.read, archive))) return false;
    }
    return true;
  };

  return {
    /** Refuses a month that is needed, and has it noted what is written to it from now on. */
    beginUsageDrop: (drop: UsageDrop): Promise<void> =>
      alive(drop.tenantId, async () => {
        requireFiles();
        const cell = await database.cellOf(drop.tenantId);
        for (const archive of archivesOf(drop)) {
          if ((await database.cellOf(archive.tenantId)) !== cell) {
            throw archiveRefusal(
              `The tenants ${drop.tenantId} and ${archive.tenantId} are in two cells.`,
            );
          }
        }
        await watchUsagePartitions(await platformOf(drop), drop.month);
        for (const archive of archivesOf(drop)) {
          const scope = scopeOf(archive);
          const obstacle = await findDropObstacle(scope.db.read, archive);
          if (obstacle !== null) throw archiveRefusal(obstacle);
          await scope.db.transaction((trx) => noteMonthTimes(trx, archive));
        }
      }),

    /** Copies what stays, and puts it in the place of the partitions. */
    finishUsageDrop: (drop: UsageDrop): Promise<DropEnd & { readonly kept: number }> =>
      alive(drop.tenantId, async () => {
        // Whoever was killed after the commit finds all of them dropped: it is one transaction.
        if (await areDropped(drop)) return { kind: 'dropped', freedBytes: 0, kept: 0 };
        const db = await platformOf(drop);
        const kept = await prepareUsageDrop(db, drop);
        const end = await finishUsageDrop(db, drop, now());
        if (end.kind === 'busy') throw new Error(`The tables are in use: ${end.message}`);
        if (end.kind === 'refused') {
          await abandonUsageDrop(db, drop.month);
          throw archiveRefusal(end.message);
        }
        if (end.kind === 'dropped') {
          metrics.archiveDroppedBytes.inc(Math.max(0, end.freedBytes));
          const { tenants, month } = drop;
          log.info({ tenants, month, kept, freedBytes: end.freedBytes }, 'dropped archived usage');
        }
        return { ...end, kept };
      }),
  };
}

function compareActivities(platform: Platform) {
  const { scopeOf, requireFiles } = archiveMeans(platform);
  return {
    /** Compares the archive with the database from a place on, for some seconds. */
    compareArchivedUsage: ({
      tenantId,
      of,
      month,
      place,
    }: UsageDrop & {
      /** Of the tenants, the one whose turn it is. */
      readonly of: string;
      readonly place: ArchivePlace;
    }): Promise<ArchivedPortion> =>
      alive(tenantId, async () => {
        const archive = { tenantId: of, month };
        const scope = scopeOf(archive);
        return portionsOfStep(place, async (from) => {
          const compared: ComparedPortion = await comparePortion(
            scope,
            requireFiles(),
            archive,
            from,
          );
          if (compared.fault !== null) {
            await markArchive(scope, archive, 'differs', compared.fault);
            throw archiveRefusal(`The archive of ${of} of ${month} differs: ${compared.fault}.`);
          }
          return compared;
        });
      }),
  };
}

function restoreActivities(platform: Platform) {
  const { log } = platform;
  const { scopeOf, requireFiles } = archiveMeans(platform);
  return {
    /** Puts rows back from a place on, for some seconds. */
    restoreUsageRows: ({
      place,
      ...archive
    }: UsageArchive & { readonly place: ArchivePlace }): Promise<ArchivedPortion> =>
      alive(archive.tenantId, async () => {
        const scope = scopeOf(archive);
        const isDropped = await isMonthDropped(scope.db.read, archive);
        if (!isDropped) {
          throw archiveRefusal(
            `The usage of ${archive.tenantId} of ${archive.month} is not dropped.`,
          );
        }
        return portionsOfStep(place, (from) =>
          restorePortion(scope, requireFiles(), archive, from),
        );
      }),

    /** Notes that the database has the month again; what came since it was dropped is in no file. */
    endUsageRestore: (archive: UsageArchive): Promise<void> =>
      alive(archive.tenantId, async () => {
        const scope = scopeOf(archive);
        const difference = await findMonthDifference(scope.db.read, archive);
        await scope.db.transaction((trx) => markRestored(trx, archive));
        await markArchive(scope, archive, difference === null ? 'complete' : 'differs', difference);
        log.info({ ...archive }, 'restored archived usage');
      }),
  };
}
