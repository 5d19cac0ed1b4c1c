import type { Knex } from 'knex';
import type { TenantDatabase } from '../../kernel/scope.js';
import { insertArchivedRows, type ArchivedRows } from './usage-drop.js';

/** Rows that are read from the archive of a month. */
export type RowsOfMonth = ArchivedRows & { readonly month: string };

/** Undoes what an answer has put into the database for itself. */
class Answered<T> extends Error {
  readonly answer: T;

  constructor(answer: T) {
    super('This transaction was for one answer.');
    this.answer = answer;
  }
}

/**
 * An answer of the usual statements about rows of the archive: they are in the database for one
 * transaction, which is rolled back, so nobody else sees them (docs/decisions/0347).
 */
export async function withArchivedRows<T>(
  db: TenantDatabase,
  tenantId: string,
  rows: readonly RowsOfMonth[],
  answer: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  try {
    await db.transaction(async (trx) => {
      for (const { month, ...some } of rows) {
        await insertArchivedRows(trx, { tenantId, month }, some);
      }
      throw new Answered(await answer(trx));
    });
  } catch (error) {
    if (error instanceof Answered) return error.answer as T;
    throw error;
  }
  throw new Error('A transaction that always throws has ended.');
}
