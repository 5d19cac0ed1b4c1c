import type { Scope } from '../../kernel/scope.js';
import {
  archivedKinds,
  type ArchivedKind,
  type ArchiveFiles,
  type ArchivePlace,
  type UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import {
  findArchivePart,
  readArchiveColumns,
  readArchiveRows,
  type ArchivePart,
} from '../../models/ageing/usage-archive.js';

type ArchiveScope = Pick<Scope, 'tenantId' | 'db'>;

/** Where the next step begins: behind the last row of this one, or with the next table. */
export function placeAfter({ kind }: ArchivePlace, lastId: string | null): ArchivePlace | null {
  if (lastId !== null) return { kind, after: lastId };
  const next = archivedKinds[archivedKinds.indexOf(kind) + 1];
  return next === undefined ? null : { kind: next, after: null };
}

/** The place at which a month begins. */
export const firstPlace: ArchivePlace = { kind: 'usage_event', after: null };

/** What is wrong with a file that is there, or how its rows differ from those of the database. */
export async function findPartFault(
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

/** The first row behind a place that the database has, and no file. */
export async function findRowsBehind(
  { db }: ArchiveScope,
  archive: UsageArchive,
  { kind, after }: { readonly kind: ArchivedKind; readonly after: string | null },
): Promise<string | null> {
  const columns = await readArchiveColumns(db.read, kind);
  const more = await readArchiveRows(db.read, archive, { kind, after, through: null, columns });
  return more.firstId === null ? null : `rows of ${kind} from ${more.firstId} on are in no file`;
}

/** How far a comparison is; `fault`: what differs, so that it ends. */
export interface ComparedPortion {
  readonly rows: number;
  readonly next: ArchivePlace | null;
  readonly fault: string | null;
}

/**
 * Compares the file behind a place with the database, row by row; behind the last one of a table there
 * must be no more rows.
 */
export async function comparePortion(
  scope: ArchiveScope,
  files: ArchiveFiles,
  archive: UsageArchive,
  place: ArchivePlace,
): Promise<ComparedPortion> {
  const part = await findArchivePart(scope.db.read, archive, place);
  if (part !== undefined) {
    const fault = await findPartFault(scope, files, archive, part);
    return { rows: part.rows, next: placeAfter(place, part.lastId), fault };
  }
  const fault = await findRowsBehind(scope, archive, place);
  return { rows: 0, next: placeAfter(place, null), fault };
}
