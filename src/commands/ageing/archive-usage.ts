import type { Scope } from '../../kernel/scope.js';
import {
  archivedKinds,
  type ArchivedPortion,
  type ArchiveFiles,
  type ArchivePlace,
  type UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import {
  findArchivePart,
  insertArchivePart,
  listArchiveParts,
  markArchiveMonth,
  readArchiveColumns,
  readArchiveRows,
  removeArchiveParts,
  type ArchivePart,
} from '../../models/ageing/usage-archive.js';

type ArchiveScope = Pick<Scope, 'tenantId' | 'db' | 'now'>;

/** Where the next step begins: behind the last row of this one, or with the next table. */
function placeAfter({ kind }: ArchivePlace, lastId: string | null): ArchivePlace | null {
  if (lastId !== null) return { kind, after: lastId };
  const next = archivedKinds[archivedKinds.indexOf(kind) + 1];
  return next === undefined ? null : { kind: next, after: null };
}

/** What is wrong with a file that is there, or how its rows differ from those of the database. */
async function findPartFault(
  { db }: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
  part: ArchivePart,
): Promise<string | null> {
  const { kind, after, lastId, columns } = part;
  const { lines } = await readArchiveRows(db.read, archive, {
    kind,
    after,
    through: lastId,
    columns,
  });
  return files.findFault(part, lines);
}

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

/** Notes that a month is being archived, or that all of it is. */
export async function markArchive(
  { db, now }: ArchiveScope,
  archive: UsageArchive,
  state: 'writing' | 'complete',
): Promise<void> {
  await db.transaction((trx) => markArchiveMonth(trx, archive, { state }, now()));
}

/**
 * Compares the files of a month with the database, row by row, and whether they have all rows; returns
 * the first difference, and notes it.
 */
export async function verifyArchive(
  scope: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
): Promise<string | null> {
  const difference = await findDifference(scope, files, archive);
  const state = difference === null ? 'complete' : 'differs';
  await scope.db.transaction((trx) =>
    markArchiveMonth(trx, archive, { state, difference }, scope.now()),
  );
  return difference;
}

async function findDifference(
  scope: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
): Promise<string | null> {
  const parts = await listArchiveParts(scope.db.read, archive);
  for (const kind of archivedKinds) {
    let after: string | null = null;
    for (const part of parts.filter((each) => each.kind === kind)) {
      if (part.after !== after) return `there is no file of rows of ${kind} before ${part.firstId}`;
      const fault = await findPartFault(scope, files, archive, part);
      if (fault !== null) return fault;
      after = part.lastId;
    }
    const columns = await readArchiveColumns(scope.db.read, kind);
    const more = await readArchiveRows(scope.db.read, archive, {
      kind,
      after,
      through: null,
      columns,
    });
    if (more.rows > 0) return `rows of ${kind} from ${more.firstId ?? ''} on are in no file`;
  }
  return null;
}
