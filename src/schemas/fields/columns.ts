import type { Static, TObject } from 'typebox';
import { Decimal, decimalText } from '../../kernel/numbers/money.js';

/*
 * Fields of a schema whose names and values are those of the columns of a table, one to one: they
 * are declared in the schema, and neither the model, nor the query, nor the command repeats them.
 */

/** The value in the column of a field: decimals are text. */
type ColumnOf<T> = T extends Decimal ? string : T;

/** The columns of the fields of a schema, but for those that are no columns. */
export type Columns<S extends TObject, Others extends keyof Static<S> = never> = {
  -readonly [K in Exclude<keyof Static<S>, Others>]: ColumnOf<Static<S>[K]>;
};

/** Makes the object that a schema declares of a row, but for the others: decimals are read exactly. */
export function presenterOf<S extends TObject, Others extends keyof Static<S> = never>(
  schema: S,
  others: readonly Others[] = [],
): (row: Columns<S, Others>) => Omit<Static<S>, Others> {
  const fields = Object.entries(schema.properties)
    .filter(([name]) => !others.includes(name as Others))
    .map(([name, field]) => [name, 'decimal' in field] as const);
  return (row: Readonly<Record<string, unknown>>) => {
    const shown: Record<string, unknown> = {};
    for (const [name, isDecimal] of fields) {
      const value = row[name];
      shown[name] = isDecimal && value !== null ? new Decimal(value as string) : value;
    }
    return shown as Static<S>;
  };
}

/** What is written where a body has null for a column that always holds something. */
type Defaults<S extends TObject> = { readonly [K in keyof Columns<S>]?: Columns<S>[K] | undefined };

type Written<S extends TObject, T, D> = {
  [K in keyof T & keyof Static<S>]?: ColumnOf<
    Exclude<T[K], undefined | (K extends keyof D ? null : never)>
  >;
};

/**
 * The columns of a record that a body gives; what it leaves out stays as it is, and so does what is
 * null where its default is undefined: a new row has that of the column.
 */
export function columnsOf<
  S extends TObject,
  T extends object,
  D extends Defaults<S> = Record<never, never>,
>(record: S, body: T, defaults: D = {} as D): Written<S, T, D> {
  const columns: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(body)) {
    if (!(name in record.properties)) continue;
    const value: unknown = given === null && name in defaults ? defaults[name as keyof D] : given;
    if (value !== undefined) columns[name] = value instanceof Decimal ? decimalText(value) : value;
  }
  return columns as Written<S, T, D>;
}
