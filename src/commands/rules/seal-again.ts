/**
 * Returns the secret sealed with the current key; undefined if it is already. Throws if no key
 * fits.
 */
export type SealAgain = (sealed: string) => string | undefined;

interface Sealed {
  readonly id: string;
  readonly sealed: string;
}

/** What is sealed with the current key now, and the names of what no key opens. */
export function sealedAnew<Row extends Sealed>(
  rows: readonly Row[],
  sealAgain: SealAgain,
  nameOf: (row: Row) => string,
): { readonly fresh: readonly Sealed[]; readonly lost: string[] } {
  const fresh: Sealed[] = [];
  const lost: string[] = [];
  for (const row of rows) {
    try {
      const sealed = sealAgain(row.sealed);
      if (sealed !== undefined) fresh.push({ id: row.id, sealed });
    } catch {
      lost.push(nameOf(row));
    }
  }
  return { fresh, lost };
}
