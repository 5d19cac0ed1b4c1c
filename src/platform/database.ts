import knex, { type Knex } from 'knex';
import PostgresTransaction from 'knex/lib/dialects/postgres/execution/pg-transaction.js';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { knexSnakeCaseMappers } from 'objection';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import type { TenantDatabase } from '../kernel/scope.js';
import type { Logger } from './log.js';
import type { PoolState } from './metrics.js';
import { traceQueries } from './sql-tracing.js';
import type { Tracing } from './tracing.js';

/** OIDs whose values must not become floats or shift with the time zone of this machine. */
const textTypes = new Set([
  pg.types.builtins.NUMERIC,
  pg.types.builtins.INT8,
  pg.types.builtins.DATE,
]);

const types = {
  getTypeParser: (oid: number, format?: string): unknown =>
    textTypes.has(oid) ? (text: string) => text : pg.types.getTypeParser(oid, format as 'text'),
};

/** The tenant that platform work runs as where it serves all tenants; see the first migration. */
const everyTenant = '*';

interface PooledConnection {
  readonly query: (sql: string, values?: unknown[]) => Promise<unknown>;
  tenantId?: string;
}

/** Who the audit names. */
export interface Trail {
  readonly actor: string;
  readonly requestId: string;
  /** The id that the caller chose for its request, if it chose one. */
  readonly callerRequestId?: string | undefined;
}

/** A transaction that tells the database whose it is with the statement that begins it. */
class TrailedTransaction extends PostgresTransaction {
  readonly #trail: Trail;

  constructor(client: Knex.Client, work: unknown, config: Trail, outer: unknown) {
    super(client, work, config, outer);
    this.#trail = config;
  }

  override begin(connection: unknown): Promise<unknown> {
    const { actor, requestId, callerRequestId = '' } = this.#trail;
    const settings = { actor, request_id: requestId, caller_request_id: callerRequestId };
    const calls = Object.entries(settings).map(
      ([name, value]) => `set_config('app.${name}', ${pg.escapeLiteral(value)}, true)`,
    );
    return this.query(connection, `begin; select ${calls.join(', ')}`);
  }
}

/**
 * A knex client on the shared pool whose connections carry one tenant's id in the session, set when
 * a connection is taken and only when it differs: a query costs no extra round trip as long as the
 * same tenant uses the connection (docs/decisions/0001-tenant-at-checkout.md).
 */
function tenantClient(tenantId: string): typeof knex.Client {
  return class TenantClient extends PostgresClient {
    override transaction(work: unknown, config: Trail, outer: unknown): Knex.Transaction {
      return new TrailedTransaction(this, work, config, outer) as unknown as Knex.Transaction;
    }

    override async acquireConnection(): Promise<PooledConnection> {
      const connection = (await super.acquireConnection()) as PooledConnection;
      if (connection.tenantId === tenantId) return connection;
      try {
        await connection.query(`select set_config('app.tenant_id', $1, false)`, [tenantId]);
        connection.tenantId = tenantId;
        return connection;
      } catch (error) {
        await this.releaseConnection(connection);
        throw error;
      }
    }
  };
}

/** Roles above row-level security become `durabill_app` for the rest of the session. */
async function leaveSuperuser(connection: PooledConnection): Promise<void> {
  const result = (await connection.query(
    `select rolsuper or rolbypassrls as "bypasses" from pg_roles where rolname = current_user`,
  )) as { rows: { bypasses: boolean }[] };
  if (result.rows[0]?.bypasses) await connection.query('set role durabill_app');
}

/** Deadlocks and failed serializations: the transaction had no effect and may run again. */
const retryableCodes = new Set(['40P01', '40001']);
const attemptsMax = 4;

/** The SQLSTATE of an error; Objection wraps the one that node-postgres threw. */
function codeOf(error: unknown): string {
  const { nativeError, code } = error as { nativeError?: { code?: string }; code?: string };
  return nativeError?.code ?? code ?? '';
}

async function runTransaction<T>(
  handle: Knex,
  trail: Trail,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await handle.transaction(work, trail as Knex.TransactionConfig);
    } catch (error) {
      if (!retryableCodes.has(codeOf(error)) || attempt === attemptsMax) throw error;
    }
  }
}

/** A class, because one is made for every request: methods cost nothing then. */
class TenantHandle implements TenantDatabase {
  readonly tenantId: string;
  readonly read: Knex;
  readonly #trail: Trail;

  constructor(tenantId: string, read: Knex, trail: Trail) {
    this.tenantId = tenantId;
    this.read = read;
    this.#trail = trail;
  }

  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
    return runTransaction(this.read, this.#trail, work);
  }
}

/** The connections of this process to PostgreSQL. */
export interface Database {
  /** For work that serves all tenants: keys, the usage log, waiting partitions. */
  readonly platform: Knex;
  /** The way of one tenant; `trail` is who the audit names. */
  forTenant(tenantId: string, trail: Trail): TenantDatabase;
  /** How full the pool is. */
  pool(): PoolState;
  /** Throws unless the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What knex has to say goes where all else goes; errors reach whoever asked, too. */
const knexLog = (log: Logger): NonNullable<Knex.Config['log']> => ({
  warn: (message: unknown) => log.warn({ err: message }, 'knex'),
  error: (message: unknown) => log.warn({ err: message }, 'knex'),
  deprecate: (method: unknown) => log.debug({ method }, 'knex: deprecated'),
  debug: (message: unknown) => log.trace({ message }, 'knex'),
});

/** What tells of tarn, knex's pool. */
interface Tarn {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

interface DatabaseOptions {
  readonly log?: Logger;
  readonly tracing?: Tracing | undefined;
}

/** Opens a pool of at most `poolMax` connections, lazily: nothing connects before it is used. */
export function openDatabase(
  url: string,
  poolMax: number,
  { log, tracing }: DatabaseOptions = {},
): Database {
  const options = {
    ...knexSnakeCaseMappers(),
    ...(log === undefined ? {} : { log: knexLog(log) }),
  };
  const base = knex({
    client: 'pg',
    connection: { connectionString: url, types, keepAlive: true, connectionTimeoutMillis: 5_000 },
    pool: {
      min: 0,
      max: poolMax,
      acquireTimeoutMillis: 10_000,
      afterCreate: (
        connection: PooledConnection,
        done: (error: Error | null, connection: PooledConnection) => void,
      ) => {
        if (tracing) traceQueries(tracing, connection);
        leaveSuperuser(connection).then(
          () => done(null, connection),
          (error: unknown) => done(error as Error, connection),
        );
      },
    },
    ...options,
  });
  const { pool: connectionPool } = base.client as {
    pool: NonNullable<Knex.Config['connectionPool']>;
  };
  const { pool: tarn } = base.client as { pool: Tarn };
  const handles = new LRUCache<string, Knex>({ max: 5_000 });
  const handleOf = (tenantId: string): Knex => {
    const known = handles.get(tenantId);
    if (known) return known;
    const handle = knex({ client: tenantClient(tenantId), connectionPool, ...options });
    handles.set(tenantId, handle);
    return handle;
  };
  const platform = handleOf(everyTenant);
  return {
    platform,
    forTenant(tenantId, trail) {
      return new TenantHandle(tenantId, handleOf(tenantId), trail);
    },
    pool: () => ({
      used: tarn.numUsed(),
      free: tarn.numFree(),
      waiting: tarn.numPendingAcquires(),
    }),
    async ping() {
      await platform.raw('select 1');
    },
    async close() {
      await base.destroy();
    },
  };
}
