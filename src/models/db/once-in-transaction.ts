import type { Knex } from 'knex';

const found = new WeakMap<Knex.Transaction, Map<string, Promise<unknown>>>();

/** Under what a transaction knows that it holds a record against its deletion. */
export const heldKey = (table: string, id: string): string => `held ${table} ${id}`;

/**
 * Finds something once in a transaction that does many similar things, such as the step of a batch.
 * Only for what stays so until the transaction ends: it is locked, or the transaction itself would
 * have to change it.
 */
export function onceInTransaction<T>(
  trx: Knex.Transaction,
  key: string,
  find: () => Promise<T>,
): Promise<T> {
  const known = found.get(trx) ?? new Map<string, Promise<unknown>>();
  found.set(trx, known);
  const finding = (known.get(key) as Promise<T> | undefined) ?? find();
  known.set(key, finding);
  return finding;
}
