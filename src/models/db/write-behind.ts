import type { Knex } from 'knex';
import { toldWhy } from '../../kernel/sql-state.js';
import type { ConnectionSource } from './read-records.js';

/**
 * Sends a statement of a transaction and does not wait for its answer, so that `commit` goes right behind it
 * in the same round trip. Where it fails, so does the commit, with its error (docs/decisions/0545). It goes to
 * the connection as it is: what is built by knex would be sent later, maybe behind the commit.
 */
export async function writeBehind(
  trx: Knex.Transaction,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<void> {
  const connection = await (trx.client as ConnectionSource).acquireConnection();
  toldWhy(connection, connection.query({ name, text, values })).catch(() => undefined);
}
