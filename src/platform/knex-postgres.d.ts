/** knex ships the dialect's class without types; subclassing it is knex's documented way. */
declare module 'knex/lib/dialects/postgres/index.js' {
  import { Knex } from 'knex';
  export default class PostgresClient extends Knex.Client {}
}
