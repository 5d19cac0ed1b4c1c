/** What the workflow that erases a person is given and gives: JSON-safe. */

export interface ErasureInput {
  /** The account whose person is erased. */
  readonly accountId: string;
}

/** A table, and the row after which a portion begins. */
export interface ErasurePlace {
  readonly table: number;
  readonly after: string | null;
}

/** What some portions have erased. */
export interface ErasedRows {
  /** Rows, by what they are. */
  readonly rows: Readonly<Record<string, number>>;
  /** Null: nothing is left. */
  readonly next: ErasurePlace | null;
}

export interface ErasureResult {
  readonly accountId: string;
  readonly erased: Readonly<Record<string, number>>;
}
