import type { ExportColumns } from '../../schemas/exports/column.js';

/** A column by which rows are ordered and cursors are made. */
export interface ExportKey {
  readonly sql: string;
  readonly type: 'date' | 'instant' | 'uuid' | 'integer';
}

/** Where the rows of a kind are, and how its columns are read. */
export interface ExportSource<C extends ExportColumns = ExportColumns> {
  /** The tables of the keys. */
  readonly from: string;
  /** What else the columns need. */
  readonly joins?: string;
  readonly tenant: string;
  /** Which rows of the tables are meant, if not all. */
  readonly where?: string;
  /** The time of what the kind is about, then what makes the order of one time: an index has them. */
  readonly keys: readonly [ExportKey, ...ExportKey[]];
  /** How many of the keys are in the table that leads, where several tables have them. */
  readonly leading?: number;
  /** Chooses the rows of the account `?`; without an index the others are read and left out. */
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
