import { mapInPortions } from '../../kernel/portions.js';
import type { Scope } from '../../kernel/scope.js';
import type {
  ArchivedPortion,
  ArchiveFiles,
  ArchivePlace,
  UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import { findArchivePart, readArchiveRows } from '../../models/ageing/usage-archive.js';
import { insertArchivedRows } from '../../models/ageing/usage-drop.js';
import { placeAfter } from './compare-archive.js';

/** Rows that one transaction puts back. */
const restoredRows = 5_000;

const idOf = (line: string): string => String((JSON.parse(line) as unknown[])[0]);

/**
 * Puts the rows of the file behind a place back into the database, and compares those with the file, row
 * by row. What is there already stays, so that it may be done again after a crash.
 */
export async function restorePortion(
  { db }: Pick<Scope, 'tenantId' | 'db'>,
  files: ArchiveFiles,
  archive: UsageArchive,
  place: ArchivePlace,
): Promise<ArchivedPortion> {
  const part = await findArchivePart(db.read, archive, place);
  if (part === undefined) return { rows: 0, next: placeAfter(place, null) };
  const lines = await files.readRows(part);
  for (let from = 0; from < lines.length; from += restoredRows) {
    const some = lines.slice(from, from + restoredRows);
    await db.transaction((trx) => insertArchivedRows(trx, archive, { ...part, lines: some }));
  }
  const ids = await mapInPortions(lines, idOf);
  const { kind, after, lastId, columns } = part;
  const found = await readArchiveRows(db.read, archive, {
    kind,
    after,
    through: lastId,
    columns,
    among: ids,
  });
  const fault = await files.findFault(part, found.lines);
  if (fault !== null) throw new Error(`What was restored differs from the archive: ${fault}.`);
  return { rows: part.rows, next: placeAfter(place, part.lastId) };
}
