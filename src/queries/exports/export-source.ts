import type { ExportColumns } from '../../schemas/exports/column.js';

/** A column by which rows are ordered and cursors are made. */
export interface ExportKey {
  readonly sql: string;
  readonly type: 'date' | 'instant' | 'uuid' | 'integer';
}

/** The tables of a kind, and the SQL of its columns. */
export interface ExportSource<C extends ExportColumns = ExportColumns> {
  /** The tables of the keys. */
  readonly from: string;
  /** What else the columns need. */
  readonly joins?: string;
  readonly tenant: string;
  /** Which rows of the tables are meant, if not all. */
  readonly where?: string;
  /** The sort key, which an index supports: the time of the row, then columns that break ties. */
  readonly keys: readonly [ExportKey, ...ExportKey[]];
  /**
   * The number of leading keys that are columns of the first table, if several tables have them.
   */
  readonly leading?: number;
  /**
   * The condition for rows of the account `?`; without an index all other rows are read and
   * filtered out.
   */
  readonly account: { readonly sql: string; readonly isIndexed: boolean };
  /** Bytes that a row may have, where a page of rows could be large. */
  readonly weight?: string;
  readonly columns: { readonly [K in keyof C]: string };
}

/** The same, with the columns that the schema declares: a missing one does not compile. */
export const exportSource = <C extends ExportColumns>(
  _columns: C,
  source: ExportSource<C>,
): ExportSource => source;
