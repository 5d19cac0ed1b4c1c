/** Bytes of data that a page may have; it has at least one row (docs/decisions/0260). */
export const pageBytesMax = 8 * 1024 * 1024;

/** A row of a page with an upper bound of its size; it is not read yet. */
export interface Place {
  readonly id: string;
  readonly weight?: string | number;
}

/** The rows of a page that fit. */
export interface Filled<R> {
  readonly rows: readonly R[];
  /** Whether the page ended before its limit, because of the maximum size. */
  readonly isCut: boolean;
}

/**
 * SQL for an upper bound of the bytes of columns as text, found without reading them: jsonb may
 * take half of its text, and compressed data 1/80 of it.
 */
export const storedWeight = (...columns: readonly string[]): string =>
  columns
    .map(
      (column) => `coalesce(pg_column_size(${column})
        * case when pg_column_compression(${column}) is null then 2 else 80 end, 0)`,
    )
    .join(' + ');

/** The longest prefix of places with the size of at most one page. */
function portionOf<P extends Place>(places: readonly P[]): readonly P[] {
  let weight = 0;
  const end = places.findIndex((place, index) => {
    weight += Number(place.weight ?? 0);
    return index > 0 && weight > pageBytesMax;
  });
  return end < 0 ? places : places.slice(0, end);
}

/**
 * Reads the rows of a page in portions, until the page has the maximum bytes of an answer, so that
 * a thousand rows of 1 MiB each are never in memory together.
 */
export async function fillPage<P extends Place, R>(
  places: readonly P[],
  read: (portion: readonly P[]) => Promise<readonly R[]>,
  bytesOf: (row: R) => number | Promise<number>,
): Promise<Filled<R>> {
  let bytes = 0;
  const rows: R[] = [];
  for (let next = 0; next < places.length;) {
    const portion = portionOf(places.slice(next));
    next += portion.length;
    for (const row of await read(portion)) {
      const own = bytesOf(row);
      bytes += typeof own === 'number' ? own : await own;
      if (rows.length > 0 && bytes > pageBytesMax) return { rows, isCut: true };
      rows.push(row);
    }
  }
  return { rows, isCut: false };
}
