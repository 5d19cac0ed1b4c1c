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
 */
export async function sqlRows<T>(
  db: Pick<Knex, 'raw'>,
  sql: string,
  bindings: SqlBindings = [],
): Promise<T[]> {
  const { rows } = await db.raw<{ rows: T[] }>(sql, bindings as readonly Knex.Value[]);
  return rows;
}
