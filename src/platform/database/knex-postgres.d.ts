/** knex ships the dialect's class without types; subclassing it is knex's documented way. */
declare module 'knex/lib/dialects/postgres/index.js' {
  import { Knex } from 'knex';
  export default class PostgresClient extends Knex.Client {}
}

declare module 'knex/lib/dialects/postgres/execution/pg-transaction.js' {
  import type { Knex } from 'knex';
  /** A transaction that begins once it has a connection; nested ones are savepoints. */
  export default class PostgresTransaction {
    constructor(client: Knex.Client, work: unknown, config: unknown, outer: unknown);
    begin(connection: unknown): Promise<unknown>;
    query(connection: unknown, sql: string): Promise<unknown>;
  }
}
