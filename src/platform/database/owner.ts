import knex, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';

/** One connection as the owner of the tables, whose statements enter no tenant by themselves. */
export const openOwner = (url: string): Knex =>
  knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 }, ...knexSnakeCaseMappers() });

/** Runs the work in one transaction of the owner, on a connection of its own. */
export async function openOwnerTransaction<T>(
  url: string,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  const db = openOwner(url);
  try {
    return await db.transaction(work);
  } finally {
    await db.destroy();
  }
}
