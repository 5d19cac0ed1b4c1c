import type { ColumnType, ExportColumn, ExportColumns } from '../../schemas/exports/column.js';
import type { ExportFormat } from '../../schemas/exports/export.js';
import type { ExportKey, ExportSource } from './export-source.js';

/** SQL for the text of a value, and whether it is quoted. */
interface Value {
  readonly sql: string;
  readonly isQuoted?: boolean;
}

/** In UTC, with all digits that PostgreSQL keeps. */
const instant = (sql: string): string =>
  `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Digits without those that say nothing, as the API has them. */
const decimal = (sql: string): string => `trim_scale(${sql})`;

const boolean = (sql: string): string => `case when ${sql} then 'true' else 'false' end`;

/** Null where the value is, else its text, between quotation marks or not. */
function jsonValue({ isNullable }: ExportColumn, { sql, isQuoted = false }: Value): Value {
  if (!isNullable) return { sql, isQuoted };
  const text = isQuoted ? `'"' || (${sql}) || '"'` : `(${sql})::text`;
  return { sql: `coalesce(${text}, 'null')` };
}

const jsonText: Readonly<Record<ColumnType, (sql: string) => Value>> = {
  uuid: (sql) => ({ sql, isQuoted: true }),
  name: (sql) => ({ sql, isQuoted: true }),
  date: (sql) => ({ sql, isQuoted: true }),
  instant: (sql) => ({ sql: instant(sql), isQuoted: true }),
  text: (sql) => ({ sql: `to_json(${sql})` }),
  decimal: (sql) => ({ sql: decimal(sql) }),
  integer: (sql) => ({ sql }),
  boolean: (sql) => ({ sql: boolean(sql) }),
  json: (sql) => ({ sql }),
};

/** Text for the thread that writes Parquet: decimals and objects are passed as text. */
const parquetText: typeof jsonText = {
  ...jsonText,
  decimal: (sql) => ({ sql: decimal(sql), isQuoted: true }),
  json: (sql) => ({ sql: `to_json((${sql})::text)` }),
};

/**
 * A quoted CSV field. A spreadsheet would evaluate a text that begins like a formula, so such a
 * text gets a leading apostrophe (docs/decisions/0317).
 */
const csvField = (sql: string): string =>
  `'"' || case when strpos(E'=+-@\\t\\r', left(${sql}, 1)) > 0 and ${sql} <> '' then '''' else '' end
     || replace(${sql}, '"', '""') || '"'`;

const csvText: Readonly<Record<ColumnType, (sql: string) => string>> = {
  uuid: (sql) => sql,
  name: (sql) => sql,
  date: (sql) => sql,
  instant,
  text: csvField,
  decimal,
  integer: (sql) => sql,
  boolean,
  json: (sql) => csvField(`(${sql})::text`),
};

/** SQL for the text of a key in a cursor; keys are read and compared in the same form. */
export const keyText = ({ sql, type }: ExportKey): string =>
  type === 'instant' ? instant(sql) : sql;

/** Stands between the keys of a cursor; no key has it. */
export const cursorSeparator = '~';

/** Pieces of a line: constant text, or a SQL expression. */
type Piece = string | { readonly sql: string };

/** One expression for the line: `format` writes it without a copy for each piece. */
function lineSql(pieces: readonly Piece[]): string {
  const template = pieces.map((piece) =>
    typeof piece === 'string' ? piece.replaceAll('%', '%%').replaceAll("'", "''") : '%s',
  );
  const values = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.sql]));
  return `format('${template.join('')}', ${values.join(', ')})`;
}

const cursorPieces = (keys: readonly ExportKey[]): Piece[] =>
  keys.flatMap((key, index) => [...(index === 0 ? [] : [cursorSeparator]), { sql: keyText(key) }]);

const quoted = ({ sql, isQuoted = false }: Value): Piece[] =>
  isQuoted ? ['"', { sql }, '"'] : [{ sql }];

/** What each column contributes, with its place. */
const eachColumn = (
  columns: ExportColumns,
  source: ExportSource,
  pieces: (name: string, column: ExportColumn, sql: string) => Piece[],
): Piece[] =>
  Object.entries(columns).flatMap(([name, column]) =>
    pieces(name, column, source.columns[name] ?? 'null'),
  );

const lines: Readonly<
  Record<ExportFormat, (columns: ExportColumns, source: ExportSource) => readonly Piece[]>
> = {
  ndjson: (columns, source) => [
    '{"cursor":"',
    ...cursorPieces(source.keys),
    '"',
    ...eachColumn(columns, source, (name, column, sql) => [
      `,"${name}":`,
      ...quoted(jsonValue(column, jsonText[column.type](sql))),
    ]),
    '}\n',
  ],
  csv: (columns, source) => [
    ...cursorPieces(source.keys),
    ...eachColumn(columns, source, (_name, { type }, sql) => [',', { sql: csvText[type](sql) }]),
    '\r\n',
  ],
  parquet: (columns, source) => [
    '["',
    ...cursorPieces(source.keys),
    '"',
    ...eachColumn(columns, source, (_name, column, sql) => [
      ',',
      ...quoted(jsonValue(column, parquetText[column.type](sql))),
    ]),
    ']\n',
  ],
};

/**
 * SQL for the text of a row in a format, with its line end. PostgreSQL writes the text and Node
 * passes it on, so no number is parsed on the way.
 */
export const exportLine = (
  format: ExportFormat,
  columns: ExportColumns,
  source: ExportSource,
): string => lineSql(lines[format](columns, source));
