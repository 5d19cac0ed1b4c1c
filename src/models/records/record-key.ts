import type { DeclaredField } from './record-type.js';

/** Columns of the table `record` that keep the values of declared fields for indexes. */
const keyColumns = Array.from({ length: 20 }, (_, index) => `key${index + 1}`);
export const uniqueColumns: readonly string[] = Array.from(
  { length: 6 },
  (_, index) => `unique${index + 1}`,
);

/** The constraint that keeps the values of a unique column apart. */
export const uniqueConstraint = (column: string): string => `record_${column}`;

/** Longer texts are indexed by their first characters only, since index entries must be short. */
export const keyLengthMax = 256;

export type ScalarType = 'string' | 'number' | 'boolean' | 'date';
export type ScalarField = DeclaredField & { readonly type: ScalarType };

/** Whether the values of the field have an order and may be unique. */
export const isScalarField = (field: DeclaredField): field is ScalarField =>
  field.type !== 'object' && field.type !== 'array';

/** Which column keeps the values of which field. */
export type RecordKeys = Readonly<Record<string, string>>;

/**
 * Assigns a key column to each scalar field: its present one if the type still fits, else a free
 * one. A field without a column is filtered without an index (docs/decisions/0087).
 */
export function assignKeys(
  fields: readonly DeclaredField[],
  before: { readonly fields: readonly DeclaredField[]; readonly keys: RecordKeys },
): RecordKeys {
  const known = new Map(before.fields.map((field) => [field.name, field]));
  const scalars = fields.filter(isScalarField);
  const keys = new Map<string, string>();
  const isKept = ({ name, type, unique }: ScalarField) =>
    known.get(name)?.type === type && (known.get(name)?.unique ?? false) === (unique ?? false);
  for (const field of scalars.filter(isKept)) {
    const column = before.keys[field.name];
    if (column !== undefined) keys.set(field.name, column);
  }
  const taken = new Set(keys.values());
  const free = (columns: readonly string[]) => columns.filter((column) => !taken.has(column));
  const pools = { unique: free(uniqueColumns), other: free(keyColumns) };
  for (const { name, unique } of scalars.filter((field) => !keys.has(field.name))) {
    const column = (unique === true ? pools.unique : pools.other).shift();
    if (column !== undefined) keys.set(name, column);
  }
  return Object.fromEntries(keys);
}

/** A piece of SQL with the values of its question marks. */
export interface Sql {
  readonly sql: string;
  readonly bindings: readonly (string | number | readonly string[])[];
}

/**
 * SQL for the key of a field's value in JSON; null if the value does not fit: see the migration.
 */
export const keyOf = (data: string, { name, type }: DeclaredField): Sql => ({
  sql: `record_key(${data} -> ?::text, ?::text) collate "C"`,
  bindings: [name, type],
});

const fittingKeys: Readonly<Record<ScalarType, (text: string) => string>> = {
  string: (text) => `left(${text}, ${keyLengthMax})`,
  number: (text) => `record_number_key((${text})::numeric)`,
  boolean: (text) => text,
  date: (text) => `record_instant_key(${text})`,
};

/** The same key of a value that is known to fit, at less cost: for writing ten thousand of them. */
export const fittingKeyOf = (data: string, { name, type }: ScalarField): Sql => ({
  sql: fittingKeys[type](`${data} ->> ?::text`),
  bindings: [name],
});
