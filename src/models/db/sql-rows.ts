import type { Knex } from 'knex';

type Scalar = string | number | bigint | boolean | Date | Buffer | null | undefined;

/** What a placeholder may stand for; an array is one binding (`= any(?::uuid[])`). */
export type SqlValue = Scalar | readonly (Scalar | readonly Scalar[])[];

/** Bindings of `?` in their order, or of `:name` by name. */
export type SqlBindings = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;

/**
 * The rows of one statement written as SQL. `T` is what its select list gives, which nothing checks.
 * The types of knex know no arrays among bindings, though knex and the driver pass them on.
 *
 * `sqlRows<{ id: string }>(db, 'select id from account where id = any(?::uuid[])', [ids])`
 * gives `[{ id: '0190…' }, …]`.
 *
 * With a `name`, a session plans it once (docs/decisions/0564): its text is always the same, and so is what
 * its select list gives, whatever columns come later.
 */
export async function sqlRows<T>(
  db: Pick<Knex, 'raw'>,
  sql: string,
  bindings: SqlBindings = [],
  name?: string,
): Promise<T[]> {
  const statement = db.raw<{ rows: T[] }>(sql, bindings as readonly Knex.Value[]);
  const { rows } = await (name === undefined ? statement : statement.options({ name }));
  return rows;
}

/**
 * SQL for whether a column has one of many ids (`:ids`), of which `:least` is the first and `:greatest` the
 * last: these say of which months facts are, so that no other part of their tables is planned for. The ids
 * come from a subquery, because PostgreSQL estimates each element of an array that it knows: of 100,000 ids
 * that was more than half of the time.
 */
export const amongSql = (column: string): string =>
  `${column} = any((select :ids::uuid[])::uuid[]) and ${column} >= :least and ${column} <= :greatest`;
