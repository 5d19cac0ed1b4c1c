/** A column of a Parquet file; what JSON has as text, Parquet has as the type. */
export interface ParquetColumn {
  readonly name: string;
  readonly type: 'text' | 'date' | 'instant' | 'integer' | 'boolean';
  readonly isNullable: boolean;
}

/** A Parquet file that is written from its beginning to its end, and never as a whole in memory. */
export interface ParquetFile {
  /**
   * The bytes of a row group: each line of the text is a row, a JSON array of the values of its columns, and
   * ends with a line break.
   */
  rowGroup(lines: string): Promise<Uint8Array>;
  /** The bytes that end the file: without them it is none. */
  footer(): Uint8Array;
}

/** Writes Parquet beside the event loop. */
export interface ParquetWriter {
  open(columns: readonly ParquetColumn[]): ParquetFile;
  close(): Promise<void>;
}
