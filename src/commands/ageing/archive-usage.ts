import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type {
  ArchivedMonth,
  ArchivedPortion,
  ArchiveFiles,
  ArchivePlace,
  UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import {
  findArchivePart,
  insertArchivePart,
  isMonthArchived,
  listArchiveParts,
  markArchiveMonth,
  readArchiveColumns,
  readArchiveRows,
  removeArchiveParts,
  type ArchivePart,
} from '../../models/ageing/usage-archive.js';
import { isMonthDropped } from '../../models/ageing/usage-drop.js';
import {
  comparePortion,
  findPartFault,
  firstPlace,
  placeAfter,
  type ComparedPortion,
} from './compare-archive.js';

type ArchiveScope = Pick<Scope, 'tenantId' | 'db' | 'now'>;

/**
 * Archives the rows behind a place, as many as a file has. A file that is there and has the rows of the
 * database stays; any other is written anew. Files are named by their content and are entered once they
 * have been read back and compared row by row, so that whatever is killed, the next step finds either
 * all of a file or none (docs/decisions/0345).
 */
export async function archivePortion(
  scope: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
  place: ArchivePlace,
): Promise<ArchivedPortion> {
  const { db, now } = scope;
  const { kind, after } = place;
  const known = await findArchivePart(db.read, archive, place);
  if (known !== undefined && (await findPartFault(scope, files, archive, known)) === null) {
    return { rows: known.rows, next: placeAfter(place, known.lastId) };
  }
  const columns = await readArchiveColumns(db.read, kind);
  const found = await readArchiveRows(db.read, archive, { kind, after, through: null, columns });
  const { firstId, lastId, lines, rows } = found;
  if (firstId === null || lastId === null) {
    await db.transaction((trx) => removeArchiveParts(trx, archive, place, null));
    return { rows: 0, next: placeAfter(place, null) };
  }
  const folder = `${archive.tenantId}/${archive.month}/${kind}`;
  const file = await files.write(folder, columns, lines);
  const part: ArchivePart = { ...file, kind, after, firstId, lastId };
  // What is in the file by now is compared with what is in the database by now.
  const fault = await findPartFault(scope, files, archive, part);
  if (fault !== null) throw new Error(`Rows have changed while they were archived: ${fault}.`);
  await db.transaction(async (trx) => {
    await removeArchiveParts(trx, archive, place, lastId);
    await insertArchivePart(trx, archive, part, now());
  });
  return { rows, next: placeAfter(place, lastId) };
}

/** Notes that a month is being archived, or that all of it is, or in what it differs. */
export async function markArchive(
  { db, now }: ArchiveScope,
  archive: UsageArchive,
  state: ArchivedMonth['state'],
  difference: string | null = null,
): Promise<void> {
  await db.transaction((trx) => markArchiveMonth(trx, archive, { state, difference }, now()));
}

/**
 * Compares the files of a month with the database, row by row, and whether they have all rows; of a month
 * that was dropped, with what they were. Returns the first difference, and notes it. 409: it was never archived.
 */
export async function verifyArchive(
  scope: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
): Promise<string | null> {
  if (!(await isMonthArchived(scope.db.read, archive))) {
    throw problem.conflict(
      `The usage of ${archive.tenantId} of ${archive.month} is not archived: 'durabill archive write' does that.`,
    );
  }
  const difference = await findDifference(scope, files, archive);
  const state = difference === null ? 'complete' : 'differs';
  await markArchive(scope, archive, state, difference);
  return difference;
}

async function findDifference(
  scope: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
): Promise<string | null> {
  if (await isMonthDropped(scope.db.read, archive)) return findFileFault(scope, files, archive);
  let place: ArchivePlace | null = firstPlace;
  while (place !== null) {
    const { fault, next }: ComparedPortion = await comparePortion(scope, files, archive, place);
    if (fault !== null) return fault;
    place = next;
  }
  return null;
}

/** Of a month that the database has no more: whether its files are what they were. */
async function findFileFault(
  { db }: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
): Promise<string | null> {
  for (const part of await listArchiveParts(db.read, archive)) {
    const fault = await files.findFault(part);
    if (fault !== null) return fault;
  }
  return null;
}
