import { openArchiveFiles } from '../adapters/archive/archive-files.js';
import { openFolderStore } from '../adapters/archive/folder-store.js';
import { openS3Store } from '../adapters/archive/s3-store.js';
import type { ArchiveFiles } from '../messages/ageing/usage-archive.js';
import type { ParquetWriter } from '../messages/parquet.js';
import type { ArchiveSettings } from '../platform/config/config-archive.js';

/** The place of archives; undefined: there is none. */
export function openArchive(
  settings: ArchiveSettings | undefined,
  parquet: ParquetWriter,
): ArchiveFiles | undefined {
  if (settings === undefined) return undefined;
  const { url, s3 } = settings;
  const store = url.startsWith('file:') ? openFolderStore(url) : openS3Store(url, s3);
  return openArchiveFiles(store, parquet);
}
