import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { isCalendarDate } from '../../kernel/time/date.js';
import { sqlRows, type SqlValue } from '../../models/db/sql-rows.js';
import { pageBytesMax } from '../lists/page-bytes.js';
import type { TimeRange } from '../lists/time-range.js';
import { cursorSeparator, keyText } from './export-line.js';
import type { ExportKey, ExportSource } from './export-source.js';

/** Selects the rows of a kind to export. */
export interface ExportChoice {
  readonly range: TimeRange;
  readonly accountId: string | undefined;
  /** Cursor of the row before the first. */
  readonly after: string | undefined;
}

/** A page of an export: the lines of consecutive rows. */
export interface ExportPage {
  readonly text: string;
  readonly rows: number;
}

/** Runs a statement when it is the tenant's turn: back-pressure by share (docs/decisions/0171). */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Rows of a page: some 3 MB of lines, which PostgreSQL writes within some 30 ms. */
const pageRowsMax = 5_000;
/** Pages read ahead while one is sent; they keep two backends of PostgreSQL busy. */
const pagesAhead = 2;

const keyForm: Readonly<Record<ExportKey['type'], (text: string) => boolean>> = {
  date: isCalendarDate,
  instant: (text) =>
    isCalendarDate(text.slice(0, 10)) &&
    /^.{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
  integer: (text) => /^\d{1,18}$/.test(text),
};

const sqlType = { date: 'date', instant: 'timestamptz', uuid: 'uuid', integer: 'bigint' } as const;

/** The keys of a row, as text. */
type Place = readonly string[];

/** Parses a cursor. 400: it is not a cursor of this kind. */
function readCursor(keys: readonly ExportKey[], cursor: string): Place {
  const parts = cursor.split(cursorSeparator);
  const isWhole =
    parts.length === keys.length && keys.every(({ type }, at) => keyForm[type](parts[at] ?? ''));
  if (!isWhole) {
    throw problem.validation("'after' must be the cursor of a row of this kind", {
      field: 'after',
      value: cursor,
    });
  }
  return parts;
}

/** Conditions with their values. */
class Conditions {
  readonly #sql: string[] = [];
  readonly values: SqlValue[] = [];

  add(sql: string, ...values: readonly SqlValue[]): void {
    this.#sql.push(sql);
    this.values.push(...values);
  }

  /** Compares the leading keys with a place by a row comparison. */
  compare(keys: readonly ExportKey[], operator: string, place: Place): void {
    const columns = keys.map(({ sql }) => sql).join(', ');
    const values = keys.map(({ type }) => `?::${sqlType[type]}`).join(', ');
    this.add(`(${columns}) ${operator} (${values})`, ...place.slice(0, keys.length));
  }

  get sql(): string {
    return this.#sql.join(' and ');
  }
}

/**
 * For a date key, the first day whose midnight is not before an instant; other keys are compared as
 * they are.
 */
const boundOf = ({ type }: ExportKey): string =>
  type === 'date'
    ? `(?::timestamptz at time zone 'UTC' + interval '1 day' - interval '1 microsecond')::date`
    : '?::timestamptz';

/** Reads a kind by keyset paging: positions are keys of rows, never offsets. */
class ExportReader {
  readonly #scope: Scope;
  readonly #source: ExportSource;
  readonly #choice: ExportChoice;
  readonly #line: string;

  constructor(scope: Scope, source: ExportSource, line: string, choice: ExportChoice) {
    this.#scope = scope;
    this.#source = source;
    this.#line = line;
    this.#choice = choice;
  }

  /** The conditions for rows after a place. */
  #conditions(place: Place | undefined): Conditions {
    const { tenant, where, keys, leading } = this.#source;
    const { from, to } = this.#choice.range;
    const conditions = new Conditions();
    conditions.add(`${tenant} = ?`, this.#scope.tenantId);
    if (where !== undefined) conditions.add(where);
    if (from !== undefined) conditions.add(`${keys[0].sql} >= ${boundOf(keys[0])}`, from);
    if (to !== undefined) conditions.add(`${keys[0].sql} < ${boundOf(keys[0])}`, to);
    if (place !== undefined) {
      if (leading !== undefined) conditions.compare(keys.slice(0, leading), '>=', place);
      conditions.compare(keys, '>', place);
    }
    return conditions;
  }

  #addAccount(conditions: Conditions): void {
    const { accountId } = this.#choice;
    if (accountId !== undefined) conditions.add(this.#source.account.sql, accountId);
  }

  /** The key of the last row of the page after a place; undefined: no row follows. */
  async findEnd(place: Place | undefined): Promise<Place | undefined> {
    const { from, keys, weight, account } = this.#source;
    const conditions = this.#conditions(place);
    if (account.isIndexed) this.#addAccount(conditions);
    const names = keys.map((_key, index) => `k${index}`);
    const columns = keys.map(({ sql }, index) => `${sql} as k${index}`);
    const order = keys.map(({ sql }) => sql).join(', ');
    const page = `select ${[...columns, ...(weight === undefined ? [] : [`${weight} as weight`])].join(', ')}
      from ${from} where ${conditions.sql} order by ${order} limit ${pageRowsMax}`;
    // A page ends with the row that reaches the size limit, so it has at least one row.
    const filled =
      weight === undefined
        ? page
        : `select * from (
             select page.*, sum(weight) over (order by ${names.join(', ')}) - weight as before
             from (${page}) as page
           ) as weighed where before < ${pageBytesMax}`;
    const texts = keys.map(({ type }, index) => keyText({ sql: `k${index}`, type }));
    const [end] = await sqlRows<{ place: string[] }>(
      this.#scope.db.read,
      `select array[${texts.map((text) => `(${text})::text`).join(', ')}] as place
       from (${filled}) as page order by ${names.map((name) => `${name} desc`).join(', ')} limit 1`,
      conditions.values,
    );
    return end?.place;
  }

  /** Reads the lines after `place`, up to and including `end`. */
  async read(place: Place | undefined, end: Place): Promise<ExportPage> {
    const { from, joins = '', keys, leading } = this.#source;
    const conditions = this.#conditions(place);
    if (leading !== undefined) conditions.compare(keys.slice(0, leading), '<=', end);
    conditions.compare(keys, '<=', end);
    this.#addAccount(conditions);
    const [page] = await sqlRows<{ text: string | null; rows: number }>(
      this.#scope.db.read,
      `select string_agg(line, '') as text, count(*)::integer as rows from (
         select ${this.#line} as line from ${from} ${joins} where ${conditions.sql}
         order by ${keys.map(({ sql }) => sql).join(', ')}
       ) as page`,
      conditions.values,
    );
    return { text: page?.text ?? '', rows: page?.rows ?? 0 };
  }
}

/**
 * The pages of an export, in order. 400: `after` is no cursor. PostgreSQL prepares the next pages
 * while one is consumed; no more are read ahead (back-pressure).
 */
export async function* readExportPages(
  scope: Scope,
  source: ExportSource,
  line: string,
  choice: ExportChoice,
  inTurn: InTurn,
): AsyncGenerator<ExportPage, void> {
  const reader = new ExportReader(scope, source, line, choice);
  const pages: Promise<ExportPage>[] = [];
  let place = choice.after === undefined ? undefined : readCursor(source.keys, choice.after);
  for (let isOver = false; ;) {
    while (!isOver && pages.length < pagesAhead) {
      const begin = place;
      const end = await inTurn(() => reader.findEnd(begin));
      if (end === undefined) {
        isOver = true;
      } else {
        const page = inTurn(() => reader.read(begin, end));
        // A rejected read is handled when its page is consumed; this avoids an unhandled rejection.
        page.catch(() => undefined);
        pages.push(page);
        place = end;
      }
    }
    const page = pages.shift();
    if (page === undefined) return;
    yield await page;
  }
}
