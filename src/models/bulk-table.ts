import type { Knex } from 'knex';
import { Decimal, decimalText } from '../kernel/money.js';

type PostgresType =
  | 'text'
  | 'jsonb'
  | 'uuid'
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'date'
  | 'timestamptz'
  | 'boolean'
  | 'bytea';

/** Types whose values may hold characters that mean something in an array literal. */
const freeTypes: ReadonlySet<PostgresType | undefined> = new Set(['text', 'jsonb']);

/** What a column of a bulk statement may hold. */
export type BulkValue = string | number | boolean | null | Date | Decimal | Buffer;

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Rows of one table written with one statement, whatever their number: each column travels as one
 * array, so the statement's text, and PostgreSQL's work to plan it, stay the same.
 */
export class BulkTable<Row extends { readonly [K in keyof Row]: BulkValue }> {
  readonly #table: string;
  readonly #names: readonly (keyof Row & string)[];
  readonly #types: readonly PostgresType[];

  constructor(table: string, columns: { readonly [K in keyof Row & string]: PostgresType }) {
    this.#table = table;
    this.#names = Object.keys(columns) as (keyof Row & string)[];
    this.#types = this.#names.map((name) => columns[name]);
  }

  /** Inserts the rows; `conflict` is an `on conflict` clause. */
  async insert(trx: Knex, tenantId: string, rows: readonly Row[], conflict = ''): Promise<void> {
    if (rows.length === 0) return;
    const columns = this.#names.map((name) => `"${snakeCase(name)}"`).join(', ');
    await trx.raw(
      `insert into ${this.#table} (tenant_id, ${columns})
       select ?::text, * from unnest(${this.#arrays()}) ${conflict}`,
      [tenantId, ...this.#values(rows)],
    );
  }

  /** Sets all columns but the key in the rows of these keys. */
  async update(
    trx: Knex,
    tenantId: string,
    key: keyof Row & string,
    rows: readonly Row[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const columns = this.#names.map((name) => `"${snakeCase(name)}"`);
    const sets = this.#names
      .filter((name) => name !== key)
      .map((name) => `"${snakeCase(name)}" = change."${snakeCase(name)}"`);
    await trx.raw(
      `update ${this.#table} as target set ${sets.join(', ')}
       from unnest(${this.#arrays()}) as change (${columns.join(', ')})
       where target.tenant_id = ?::text and target."${snakeCase(key)}" = change."${snakeCase(key)}"`,
      [...this.#values(rows), tenantId],
    );
  }

  #arrays(): string {
    return this.#types.map((type) => `?::${type}[]`).join(', ');
  }

  #values(rows: readonly Row[]): string[] {
    return this.#names.map((name, index) => {
      const isText = freeTypes.has(this.#types[index]);
      return `{${rows.map((row) => element(row[name], isText)).join(',')}}`;
    });
  }
}

/** An element of an array literal; only text can hold characters that mean something there. */
function element(value: BulkValue, isText: boolean): string {
  if (value === null) return 'NULL';
  if (isText && typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
  return String(value);
}
