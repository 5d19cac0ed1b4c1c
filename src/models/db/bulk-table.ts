import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { Portions } from '../../kernel/portions.js';
import { arrayLiteral, joinJson, splitJsonSql } from '../../kernel/text/postgres-array.js';
import { decimalText } from '../../kernel/numbers/money.js';
import { sqlRows, type SqlBindings } from './sql-rows.js';

/** `json text` is text that was written as JSON, so that it holds no control character. */
type ColumnType =
  | 'text'
  | 'json text'
  | 'json'
  | 'jsonb'
  | 'uuid'
  | 'boolean'
  | 'smallint'
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'date'
  | 'timestamptz';

/** What a column of a bulk statement may hold. */
export type BulkValue = string | number | boolean | null | Date | Decimal;

interface Column<Row> {
  readonly name: keyof Row & string;
  readonly type: ColumnType;
  /** As SQL writes it. */
  readonly sqlName: string;
}

/** Types whose values may hold what means something in an array. */
const freeTypes: ReadonlySet<ColumnType> = new Set(['text', 'json text', 'json', 'jsonb']);

/** A column in a bulk statement: the SQL that reads it, and the values to bind. */
interface Source {
  readonly sqlName: string;
  /** The array in `unnest(...)`; null for a column that is the same in every row. */
  readonly array: string | null;
  readonly expression: string;
  readonly value: string | null;
}

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A statement with what is bound in it. */
export interface BulkStatement {
  readonly sql: string;
  readonly bindings: SqlBindings;
}

/** Characters of statements that the database has not answered yet, from which on it is waited for. */
const unansweredMax = 1024 * 1024;
/** Characters from which on a statement is on its way before this process is kept busy with the next. */
const long = 64 * 1024;

const lengthOf = ({ sql, bindings }: BulkStatement): number => {
  let length = sql.length;
  for (const value of Object.values(bindings))
    if (typeof value === 'string') length += value.length;
  return length;
};

/**
 * Runs statements of a transaction in their order. They are sent one behind the other without waiting for
 * answers: a few rows in many tables cost one round trip (docs/decisions/0532). What is long is made while
 * the database carries out what was sent before, and waits until that is done. Of what fails the first is
 * thrown, once nothing is under way.
 */
export async function writeTogether(
  trx: Knex,
  statements: Iterable<BulkStatement | null>,
): Promise<void> {
  const sent: Promise<unknown>[] = [];
  const failed: unknown[] = [];
  let portions = new Portions();
  let unanswered = 0;
  try {
    for (const statement of statements) {
      if (failed.length > 0) break;
      if (statement === null) continue;
      const length = lengthOf(statement);
      if (unanswered + length > unansweredMax) {
        await Promise.all(sent);
        unanswered = 0;
        portions = new Portions();
      }
      const running = sqlRows(trx, statement.sql, statement.bindings);
      running.catch((error: unknown) => failed.push(error));
      sent.push(running);
      unanswered += length;
      if (length <= long) continue;
      // It is on its way before this process is kept busy with the next, and others are served in between.
      await nextTurn();
      await portions.rest();
    }
  } finally {
    await Promise.allSettled(sent);
  }
  await Promise.all(sent);
}

/**
 * Maximum rows of one statement. Ten thousand rows were 50 ms of text in one piece, and 10 MB that went to the
 * socket at once: 270 ms in which nobody was served (docs/decisions/0489).
 */
export const rowsAtOnce = 2_000;

/** Characters of free texts after which a statement takes no further row: one row may have a mebibyte. */
const charactersAtOnce = 1024 * 1024;

/**
 * Writes any number of rows of one table with few statements: each column is bound as one array, or
 * as a single value if all rows have the same.
 */
export class BulkTable<Row extends { readonly [K in keyof Row]: BulkValue }> {
  readonly #table: string;
  readonly #columns: readonly Column<Row>[];
  /** The columns whose texts may be long. */
  readonly #freeNames: readonly (keyof Row & string)[];

  constructor(table: string, columns: { readonly [K in keyof Row & string]: ColumnType }) {
    this.#table = table;
    this.#columns = (Object.keys(columns) as (keyof Row & string)[]).map((name) => ({
      name,
      type: columns[name],
      sqlName: `"${snakeCase(name)}"`,
    }));
    this.#freeNames = this.#columns.flatMap(({ name, type }) =>
      freeTypes.has(type) ? [name] : [],
    );
  }

  /** Inserts the rows, in portions; `conflict` is an `on conflict` clause. */
  async insert(trx: Knex, tenantId: string, rows: readonly Row[], conflict = ''): Promise<void> {
    await writeTogether(trx, this.insertingAll(tenantId, rows, conflict));
  }

  /** The statements that do so, each made when it is asked for. */
  *insertingAll(
    tenantId: string,
    rows: readonly Row[],
    conflict = '',
  ): Iterable<BulkStatement | null> {
    let from = 0;
    while (from < rows.length) {
      const end = this.#endOfStatement(rows, from);
      const portion = end - from === rows.length ? rows : rows.slice(from, end);
      yield this.inserting(tenantId, portion, conflict);
      from = end;
    }
  }

  /** Up to which row one statement goes that begins at this one. */
  #endOfStatement(rows: readonly Row[], from: number): number {
    const most = Math.min(rows.length, from + rowsAtOnce);
    let characters = 0;
    for (let at = from; at < most; at += 1) {
      for (const name of this.#freeNames) {
        const value = rows[at]?.[name];
        if (typeof value === 'string') characters += value.length;
      }
      if (characters >= charactersAtOnce) return at + 1;
    }
    return most;
  }

  /** The statement that inserts the rows; null where there are none. */
  inserting(tenantId: string, rows: readonly Row[], conflict = ''): BulkStatement | null {
    if (rows.length === 0) return null;
    const sources = this.#sources(rows);
    const columns = sources.map(({ sqlName }) => sqlName).join(', ');
    const { from, bindings } = rowsOf(sources, rows.length);
    const expressions = sources.map(({ expression }) => expression);
    const constants = sources.filter(({ array }) => array === null).map(({ value }) => value);
    return {
      sql: `insert into ${this.#table} (tenant_id, ${columns})
       select ?::text, ${expressions.join(', ')} from ${from} ${conflict}`,
      bindings: [tenantId, ...constants, ...bindings],
    };
  }

  /** Sets all columns but the key in the rows of these keys. */
  update(
    trx: Knex,
    tenantId: string,
    key: keyof Row & string,
    rows: readonly Row[],
  ): Promise<void> {
    return writeTogether(trx, [this.updating(tenantId, key, rows)]);
  }

  /** The statement that does so; null where there are no rows. */
  updating(tenantId: string, key: keyof Row & string, rows: readonly Row[]): BulkStatement | null {
    if (rows.length === 0) return null;
    const sources = this.#sources(rows, key);
    const keyName = `"${snakeCase(key)}"`;
    const changed = sources.filter(({ sqlName }) => sqlName !== keyName);
    const { from, bindings } = rowsOf(sources, rows.length);
    const constants = changed.filter(({ array }) => array === null).map(({ value }) => value);
    return {
      sql: `update ${this.#table} as target
       set ${changed.map(({ sqlName, expression }) => `${sqlName} = ${expression}`).join(', ')}
       from ${from} where target.tenant_id = ?::text and target.${keyName} = input.${keyName}`,
      bindings: [...constants, ...bindings, tenantId],
    };
  }

  #sources(rows: readonly Row[], key?: keyof Row & string): Source[] {
    return this.#columns.map(({ name, type, sqlName }) => {
      const first = rows[0]?.[name] ?? null;
      if (name !== key && rows.every((row) => row[name] === first)) {
        const value = first === null ? null : plainText(first);
        const sqlType = type === 'json text' ? 'text' : type;
        return { sqlName, array: null, expression: `?::${sqlType}`, value };
      }
      const expression = `input.${sqlName}`;
      const texts: (string | null)[] = [];
      for (const row of rows) {
        const value = row[name];
        texts.push(value === null || typeof value === 'string' ? value : plainText(value));
      }
      const joined = type === 'json text' ? joinJson(texts.map((text) => text ?? '')) : null;
      if (joined !== null) return { sqlName, array: splitJsonSql, expression, value: joined };
      const array = `?::${type === 'json text' ? 'text' : type}[]`;
      return { sqlName, array, expression, value: arrayLiteral(texts, freeTypes.has(type)) };
    });
  }
}

function rowsOf(sources: readonly Source[], count: number) {
  const arrays = sources.filter(({ array }) => array !== null);
  if (arrays.length === 0) return { from: `generate_series(1, ${count})`, bindings: [] };
  const names = arrays.map(({ sqlName }) => sqlName).join(', ');
  return {
    from: `unnest(${arrays.map(({ array }) => array).join(', ')}) as input (${names})`,
    bindings: arrays.map(({ value }) => value),
  };
}

function plainText(value: Exclude<BulkValue, null>): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value instanceof Date ? value.toISOString() : decimalText(value);
}
