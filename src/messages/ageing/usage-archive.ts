import type { ParquetColumn } from '../parquet.js';

/** A month of a tenant's usage that is archived, as its workflow is given it. */
export interface UsageArchive {
  readonly tenantId: string;
  /** `2026-10`: the month of receipt, in UTC. */
  readonly month: string;
}

/** The tables whose rows are archived, in this order. */
export const archivedKinds = ['usage_event', 'rated_transaction'] as const;
export type ArchivedKind = (typeof archivedKinds)[number];

/** Where a step begins: behind the row of this id; null: with the first one. */
export interface ArchivePlace {
  readonly kind: ArchivedKind;
  readonly after: string | null;
}

/** What a step came to. */
export interface ArchivedPortion {
  readonly rows: number;
  /** Null: all is archived. */
  readonly next: ArchivePlace | null;
}

/** How far the archive of a month is; `differs`: a later check found a difference. */
export const archiveStates = ['writing', 'complete', 'differs'] as const;

/** What a month's archive holds. */
export interface ArchivedMonth {
  readonly month: string;
  readonly state: (typeof archiveStates)[number];
  readonly events: number;
  readonly charges: number;
  readonly bytes: number;
  readonly difference: string | null;
  /** Whether the database has its rows no more. */
  readonly isDropped: boolean;
}

/** The workflow id of a month's archive: there is one at a time. */
export const usageArchiveId = ({ tenantId, month }: UsageArchive): string =>
  `${tenantId}/archive/${month}`;

/** A file with rows, and what it was found to hold. */
export interface ArchiveFile {
  readonly file: string;
  readonly bytes: number;
  readonly fileSha256: string;
  readonly rowsSha256: string;
  readonly rows: number;
  readonly columns: readonly ParquetColumn[];
}

/** A column whose values say which rows are meant. */
export interface HavingValues {
  readonly column: string;
  readonly values: readonly string[];
}

/** Where archives are kept: files are written whole or not at all, and never changed. */
export interface ArchiveStore {
  /** The address, without secrets. */
  readonly address: string;
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined: there is none of this name. */
  read(name: string): Promise<Uint8Array | undefined>;
}

/** Files of rows in the store; a row is a line of a JSON array, as PostgreSQL writes it. */
export interface ArchiveFiles {
  readonly address: string;
  /** Writes the rows, reads the file back, and says what it holds. */
  write(folder: string, columns: readonly ParquetColumn[], lines: string): Promise<ArchiveFile>;
  /**
   * Reads a file; answers with what is wrong with it, or where its rows differ from the given ones;
   * null: nothing.
   */
  findFault(file: ArchiveFile, lines?: string): Promise<string | null>;
  /**
   * The rows of a file, or those whose column has one of the values, as the database had them; throws
   * where the file is not as it was when it was entered.
   */
  readRows(file: ArchiveFile, having?: HavingValues): Promise<readonly string[]>;
  close(): Promise<void>;
}
