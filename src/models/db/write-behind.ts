import type { Knex } from 'knex';
import { toldWhy } from '../../kernel/sql-state.js';
import type { ConnectionSource } from './read-records.js';

/**
 * Sends the last statement of a transaction and does not wait for its answer: `commit` goes right behind it, in
 * the same round trip, and fails with its error (docs/decisions/0499). It goes to the connection as it is: what
 * knex builds is sent later, maybe behind the commit. Its values are texts, which cannot fail before they are
 * sent, when PostgreSQL would not know of it.
 */
export async function writeBehind(
  trx: Knex.Transaction,
  name: string,
  text: string,
  values: readonly string[],
): Promise<void> {
  const connection = await (trx.client as ConnectionSource).acquireConnection();
  connection.behind = toldWhy(connection, connection.query({ name, text, values }));
  // Whoever commits is told, and nobody where the transaction is rolled back for another reason.
  connection.behind.catch(() => undefined);
}
