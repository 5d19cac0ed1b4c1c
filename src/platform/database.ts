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
import { sessionSettings, timeLimits, type TimeLimits, type WorkKind } from './time-limits.js';
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
  /** Of the server, as `server_version_num` has it. */
  version: number;
  /** Whose rows the session may see. */
  tenantId?: string;
  /** What the session's time limits are for. */
  work?: WorkKind;
}

type Limits = Readonly<Record<WorkKind, TimeLimits>>;

const setConfig = (name: string, value: string, isLocal: boolean): string =>
  `set_config('${name}', ${pg.escapeLiteral(value)}, ${isLocal})`;

/** Who the audit names. */
export interface Trail {
  readonly actor: string;
  readonly requestId: string;
  /** The id that the caller chose for its request, if it chose one. */
  readonly callerRequestId?: string | undefined;
}

/**
 * A transaction that tells the database whose it is, and how long its statements may take, with the
 * statement that begins it.
 */
class TrailedTransaction extends PostgresTransaction {
  readonly #trail: Partial<Trail>;
  readonly #limits: TimeLimits;

  constructor(
    client: Knex.Client,
    work: unknown,
    config: Partial<Trail>,
    outer: unknown,
    limits: TimeLimits,
  ) {
    super(client, work, config, outer);
    this.#trail = config;
    this.#limits = limits;
  }

  override begin(connection: unknown): Promise<unknown> {
    const { actor = '', requestId = '', callerRequestId = '' } = this.#trail;
    const { readMs, writeMs } = this.#limits;
    const calls = [
      setConfig('app.actor', actor, true),
      setConfig('app.request_id', requestId, true),
      setConfig('app.caller_request_id', callerRequestId, true),
      ...(writeMs === readMs ? [] : [setConfig('statement_timeout', String(writeMs), true)]),
    ];
    return this.query(connection, `begin; select ${calls.join(', ')}`);
  }
}

/**
 * A knex client on the shared pool whose connections carry one tenant's id and the time limits of a
 * kind of work in the session, set when a connection is taken and only when they differ: a query
 * costs no extra round trip as long as the same tenant uses the connection for the same kind of work
 * (docs/decisions/0001-tenant-at-checkout.md).
 */
function tenantClient(tenantId: string, work: WorkKind, limits: TimeLimits): typeof knex.Client {
  const prepare = async (connection: PooledConnection): Promise<void> => {
    const settings: [string, string][] = [['app.tenant_id', tenantId]];
    if (connection.work !== work) settings.push(...sessionSettings(limits, connection.version));
    const calls = settings.map(([name, value]) => setConfig(name, value, false));
    await connection.query(`select ${calls.join(', ')}`);
    Object.assign(connection, { tenantId, work });
  };
  return class TenantClient extends PostgresClient {
    override transaction(work: unknown, config: Trail, outer: unknown): Knex.Transaction {
      const transaction = new TrailedTransaction(this, work, config, outer, limits);
      return transaction as unknown as Knex.Transaction;
    }

    override async acquireConnection(): Promise<PooledConnection> {
      const connection = (await super.acquireConnection()) as PooledConnection;
      if (connection.tenantId === tenantId && connection.work === work) return connection;
      try {
        await prepare(connection);
        return connection;
      } catch (error) {
        await this.releaseConnection(connection);
        throw error;
      }
    }
  };
}

/** Roles above row-level security become `durabill_app` for the rest of the session; true of them. */
async function leaveSuperuser(connection: PooledConnection): Promise<boolean> {
  const { rows } = (await connection.query(
    `select rolsuper or rolbypassrls as "bypasses",
       current_setting('server_version_num')::integer as "version"
     from pg_roles where rolname = current_user`,
  )) as { rows: { bypasses: boolean; version: number }[] };
  connection.version = rows[0]?.version ?? 0;
  if (rows[0]?.bypasses !== true) return false;
  await connection.query('set role durabill_app');
  return true;
}

/** What begins a session; a login that may do too much is warned of once. */
function sessionOpener(log?: Logger): (connection: PooledConnection) => Promise<void> {
  let hasWarned = false;
  return async (connection) => {
    const isSuperuser = await leaveSuperuser(connection);
    if (!isSuperuser || hasWarned) return;
    hasWarned = true;
    log?.warn(
      'the login of DATABASE_URL may do anything in the database: give running processes one of their own, and the owner in DATABASE_OWNER_URL',
    );
  };
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
  /** The way of one tenant; `trail` is who the audit names, `work` what the time limits are for. */
  forTenant(tenantId: string, trail: Trail, work?: WorkKind): TenantDatabase;
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
  /** Where they differ from `timeLimits`; tests have no minutes. */
  readonly limits?: Partial<Limits> | undefined;
}

/** Opens a pool of at most `poolMax` connections, lazily: nothing connects before it is used. */
export function openDatabase(
  url: string,
  poolMax: number,
  { log, tracing, limits: given }: DatabaseOptions = {},
): Database {
  const limits: Limits = { ...timeLimits, ...given };
  const open = sessionOpener(log);
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
        open(connection).then(
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
  const handleOf = (tenantId: string, work: WorkKind): Knex => {
    const key = `${work}/${tenantId}`;
    const known = handles.get(key);
    if (known) return known;
    const client = tenantClient(tenantId, work, limits[work]);
    const handle = knex({ client, connectionPool, ...options });
    handles.set(key, handle);
    return handle;
  };
  const platform = handleOf(everyTenant, 'step');
  return {
    platform,
    forTenant(tenantId, trail, work = 'step') {
      return new TenantHandle(tenantId, handleOf(tenantId, work), trail);
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
