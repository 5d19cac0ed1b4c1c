import { Type, type TObject, type TSchema } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { DateText, Instant, nullable, Uuid } from '../fields/field.js';

/**
 * What a column holds. `name` is text of ours that needs no quotes or escapes, such as a status; `json` is
 * an object, in CSV and Parquet its text.
 */
export type ColumnType =
  'uuid' | 'text' | 'name' | 'date' | 'instant' | 'decimal' | 'integer' | 'boolean' | 'json';

/** A column of an export: the same in the lines of NDJSON, in CSV and in Parquet. */
export interface ExportColumn {
  readonly type: ColumnType;
  readonly isNullable: boolean;
  readonly description: string;
}

/** Columns by their names, in their order. */
export type ExportColumns = Readonly<Record<string, ExportColumn>>;

const column =
  (type: ColumnType) =>
  (description: string): ExportColumn => ({ type, isNullable: false, description });

/** Columns that always hold a value. */
export const always = {
  uuid: column('uuid'),
  text: column('text'),
  name: column('name'),
  date: column('date'),
  instant: column('instant'),
  decimal: column('decimal'),
  integer: column('integer'),
  boolean: column('boolean'),
};

const perhapsColumn =
  (type: ColumnType) =>
  (description: string): ExportColumn => ({ type, isNullable: true, description });

/** Columns that may be null; empty in CSV. */
export const perhaps = {
  uuid: perhapsColumn('uuid'),
  text: perhapsColumn('text'),
  name: perhapsColumn('name'),
  date: perhapsColumn('date'),
  decimal: perhapsColumn('decimal'),
  instant: perhapsColumn('instant'),
  integer: perhapsColumn('integer'),
  json: perhapsColumn('json'),
};

const schemaOf: Readonly<Record<ColumnType, (description: string) => TSchema>> = {
  uuid: Uuid,
  text: (description) => Type.String({ description }),
  name: (description) => Type.String({ description }),
  date: DateText,
  instant: Instant,
  decimal: (description) => DecimalValue({ description }),
  integer: (description) => Type.Integer({ description }),
  boolean: (description) => Type.Boolean({ description }),
  json: (description) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description }),
};

/** The place of a row, by which an export goes on behind it. */
export const cursorColumn = always.text(
  'Place of the row: `after` with it goes on behind the row.',
);

/** The line of NDJSON that a row is. */
export function exportRow(columns: ExportColumns, description: string): TObject {
  const entries = Object.entries({ cursor: cursorColumn, ...columns }).map(([name, each]) => {
    const schema = schemaOf[each.type](each.description);
    return [name, each.isNullable ? nullable(schema) : schema] as const;
  });
  return Type.Object(Object.fromEntries(entries), { description });
}
