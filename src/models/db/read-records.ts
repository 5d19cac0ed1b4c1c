import type { Knex } from 'knex';
import { mapInPortions } from '../../kernel/portions.js';
import { toldWhy } from '../../kernel/sql-state.js';

interface Result {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}
/**
 * The part of the pool that provides connections; within a transaction it is the transaction's own.
 */
export interface ConnectionSource {
  acquireConnection(): Promise<{
    failure?: Error | undefined;
    behind?: Promise<unknown> | undefined;
    query(config: {
      name?: string | undefined;
      text: string;
      values: readonly unknown[];
      rowMode?: 'array';
    }): Promise<Result>;
  }>;
  releaseConnection(connection: object): Promise<unknown>;
}

/**
 * A statement that a session plans once, which is half of what reading by a key costs PostgreSQL
 * (docs/decisions/0564). It names its columns: others may come while processes run.
 */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** Fewer records are made at once, in about a millisecond. */
const madeAtOnce = 500;

/** `invoice_no` is `invoiceNo`. */
export const camelCase = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** Cache of property names: there are few, and every answer needs them. */
const properties = new Map<string, string>();
function propertyOf(column: string): string {
  let property = properties.get(column);
  if (property === undefined) properties.set(column, (property = camelCase(column)));
  return property;
}

/**
 * The records that one statement reads, which names the tenant as `$1`. It goes to the connection as
 * it is: to build and read it through Objection and knex costs more than running it
 * (docs/decisions/0055), so relations and hooks are not run; thousands of them are made in portions. A transaction is taken as `db` like a
 * handle.
 *
 * `readRecords(Account, db, tenantId, 'select id, external_id from account where tenant_id = $1 and
 * id = any($2::uuid[])', [ids])` gives `[Account { id: '0190…', externalId: 'A-1' }]`.
 */
export async function readRecords<M extends object>(
  model: new () => M,
  db: Knex,
  tenantId: string,
  statement: string | NamedStatement,
  values: readonly unknown[] = [],
): Promise<M[]> {
  const { name, text } =
    typeof statement === 'string' ? { name: undefined, text: statement } : statement;
  if (tenantId === '') throw new Error('A query was given an empty tenant id.');
  if (!text.includes('tenant_id = $1')) throw new Error(`A query names no tenant: ${text}`);
  const source = db.client as ConnectionSource;
  const connection = await source.acquireConnection();
  let result: Result;
  try {
    const asked = { name, text, values: [tenantId, ...values], rowMode: 'array' } as const;
    result = await toldWhy(connection, connection.query(asked));
  } finally {
    void source.releaseConnection(connection);
  }
  const names = result.fields.map(({ name }) => propertyOf(name));
  const recordOf = (row: readonly unknown[]): M => {
    const record = new model() as Record<string, unknown>;
    names.forEach((name, index) => {
      record[name] = row[index];
    });
    return record as M;
  };
  return result.rows.length > madeAtOnce
    ? mapInPortions(result.rows, recordOf)
    : result.rows.map(recordOf);
}
