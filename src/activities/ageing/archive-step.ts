import { ApplicationFailure } from '@temporalio/common';
import type { ArchiveFiles, UsageArchive } from '../../messages/ageing/usage-archive.js';
import type { Platform } from '../../process/platform.js';

export const archiveTrail = { actor: 'usage-archive', requestId: 'usage-archive' };

/** Ends what was asked of an archive with the reason why it cannot be done. */
export const archiveRefusal = (message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, 'ArchiveRefused');

/** What every step on an archive needs: the scope of its tenant, and the place of its files. */
export function archiveMeans({ database, now, archive: files }: Platform) {
  const scopeOf = ({ tenantId }: UsageArchive) => ({
    tenantId,
    db: database.forTenant(tenantId, archiveTrail, 'batch'),
    now,
  });
  const requireFiles = (): ArchiveFiles => {
    if (files !== undefined) return files;
    throw archiveRefusal('There is no place for archives: set ARCHIVE_URL for the workers.');
  };
  return { scopeOf, requireFiles };
}
