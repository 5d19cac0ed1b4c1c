/** Bytes of data that a page may have; it has at least one row (docs/decisions/0260). */
export const pageBytesMax = 8 * 1024 * 1024;

/** A row of a page of which only the most bytes that it may have are known. */
export interface Place {
  readonly id: string;
  readonly weight?: string | number;
}

/** A page as far as it may go. */
export interface Filled<R> {
  readonly rows: readonly R[];
  /** Whether it ended before its limit, because it would have been too large. */
  readonly isCut: boolean;
}

/**
 * SQL for the most bytes that columns of a row may have as text, found without reading them: binary JSON
 * can be half of its text, and what is compressed was up to 80 times as long.
 */
export const storedWeight = (...columns: readonly string[]): string =>
  columns
    .map(
      (column) => `coalesce(pg_column_size(${column})
        * case when pg_column_compression(${column}) is null then 2 else 80 end, 0)`,
    )
    .join(' + ');

/** Places at the start of some, as many as weigh no more than a page. */
function portionOf<P extends Place>(places: readonly P[]): readonly P[] {
  let weight = 0;
  const end = places.findIndex((place, index) => {
    weight += Number(place.weight ?? 0);
    return index > 0 && weight > pageBytesMax;
  });
  return end < 0 ? places : places.slice(0, end);
}

/**
 * Reads the rows of a page in portions, until the page has as many bytes as an answer may have: a
 * thousand rows of 1 MiB each are never in memory together.
 */
export async function fillPage<P extends Place, R>(
  places: readonly P[],
  read: (portion: readonly P[]) => Promise<readonly R[]>,
  bytesOf: (row: R) => number,
): Promise<Filled<R>> {
  let bytes = 0;
  const rows: R[] = [];
  for (let next = 0; next < places.length;) {
    const portion = portionOf(places.slice(next));
    next += portion.length;
    for (const row of await read(portion)) {
      bytes += bytesOf(row);
      if (rows.length > 0 && bytes > pageBytesMax) return { rows, isCut: true };
      rows.push(row);
    }
  }
  return { rows, isCut: false };
}
