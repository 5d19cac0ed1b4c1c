import knex, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import type { TenantDatabase } from '../../kernel/scope.js';
import { isRepeatable } from '../../kernel/sql-state.js';
import type { Logger } from '../log.js';
import type { PoolState } from '../metrics.js';
import { cancelStatement } from './cancel-statement.js';
import { PoolShares } from './pool-shares.js';
import { traceQueries } from './sql-tracing.js';
import { Caller, forCaller, tenantClient } from './tenant-client.js';
import { enterTenants, type PooledConnection, type Trail } from './tenant-entrance.js';
import { timeLimits, type TimeLimits, type WorkKind } from './time-limits.js';
import type { Tracing } from '../tracing.js';

/**
 * OIDs of types returned as text: they must not become floats or be shifted by the local time zone.
 */
const textTypes = new Set([
  pg.types.builtins.NUMERIC,
  pg.types.builtins.INT8,
  pg.types.builtins.DATE,
]);

const types = {
  getTypeParser: (oid: number, format?: string): unknown =>
    textTypes.has(oid) ? (text: string) => text : pg.types.getTypeParser(oid, format as 'text'),
};

/** The tenant id of platform work that serves all tenants; see the first migration. */
const everyTenant = '*';

type Limits = Readonly<Record<WorkKind, TimeLimits>>;

type OpenSession = (connection: PooledConnection) => Promise<void>;

/** Sets up a connection; a login with too many privileges is logged once. */
function sessionOpener(log: Logger | undefined, tracing: Tracing | undefined): OpenSession {
  let hasWarned = false;
  return async (connection) => {
    const mayBypass = await enterTenants(connection);
    if (tracing) traceQueries(tracing, connection);
    if (!mayBypass || hasWarned) return;
    hasWarned = true;
    log?.warn(
      'the login of DATABASE_URL may do anything in the database: give running processes one of their own, and the owner in DATABASE_OWNER_URL',
    );
  };
}

const attemptsMax = 4;

async function runTransaction<T>(
  handle: Knex,
  trail: Trail,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await handle.transaction(work, trail as Knex.TransactionConfig);
    } catch (error) {
      if (!isRepeatable(error) || attempt === attemptsMax) throw error;
    }
  }
}

type Cancel = (running: PooledConnection) => Promise<void>;

/**
 * A class, because one is made for every request: unlike closures, its methods cost nothing then.
 */
class TenantHandle implements TenantDatabase {
  readonly tenantId: string;
  readonly #shared: Knex;
  readonly #cancel: Cancel;
  readonly #caller: Caller;
  #own: Knex | undefined;

  constructor(tenantId: string, shared: Knex, trail: Trail, cancel: Cancel) {
    this.tenantId = tenantId;
    this.#shared = shared;
    this.#cancel = cancel;
    this.#caller = new Caller(trail);
  }

  get read(): Knex {
    return (this.#own ??= forCaller(this.#shared, this.#caller));
  }

  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
    const caller = this.#caller;
    return runTransaction(this.read, caller.trail, async (trx) => {
      caller.transactions += 1;
      try {
        return await work(trx);
      } finally {
        caller.transactions -= 1;
      }
    });
  }

  abandon(): void {
    this.#caller.abandon(this.#cancel);
  }
}

/** The connections of this process to PostgreSQL. */
export interface Database {
  /** For work that serves all tenants: keys, the usage log, waiting partitions. */
  readonly platform: Knex;
  /** The handle of one tenant; `trail` is for the audit, `work` selects the time limits. */
  forTenant(tenantId: string, trail: Trail, work?: WorkKind): TenantDatabase;
  /** How full the pool is. */
  pool(): PoolState;
  /** Throws unless the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Sends knex's messages to our log; errors are thrown to the caller, too. */
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
  /** Of the connections, what one tenant may hold while others wait. */
  readonly tenantShare?: number | undefined;
}

const poolOf = (url: string, poolMax: number, open: OpenSession): Knex.Config => ({
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
      open(connection).then(
        () => done(null, connection),
        (error: unknown) => done(error as Error, connection),
      );
    },
  },
});

/** Opens a pool of at most `poolMax` connections, lazily: nothing connects before it is used. */
export function openDatabase(
  url: string,
  poolMax: number,
  { log, tracing, limits: given, tenantShare = 0.5 }: DatabaseOptions = {},
): Database {
  const limits: Limits = { ...timeLimits, ...given };
  const tenantShares = new PoolShares({ max: poolMax, share: tenantShare });
  const cancel: Cancel = (running) => cancelStatement(running, log);
  const options = {
    ...knexSnakeCaseMappers(),
    ...(log === undefined ? {} : { log: knexLog(log) }),
  };
  const base = knex({ ...poolOf(url, poolMax, sessionOpener(log, tracing)), ...options });
  const { pool: connectionPool } = base.client as {
    pool: NonNullable<Knex.Config['connectionPool']>;
  };
  const { pool: tarn } = base.client as { pool: Tarn };
  const handles = new LRUCache<string, Knex>({ max: 5_000 });
  const handleOf = (tenantId: string, work: WorkKind): Knex => {
    const key = `${work}/${tenantId}`;
    const known = handles.get(key);
    if (known) return known;
    const shares = tenantId === everyTenant ? undefined : tenantShares;
    const client = tenantClient({ tenantId, limits: limits[work], shares });
    const handle = knex({ client, connectionPool, ...options });
    handles.set(key, handle);
    return handle;
  };
  const platform = handleOf(everyTenant, 'step');
  return {
    platform,
    forTenant(tenantId, trail, work = 'step') {
      return new TenantHandle(tenantId, handleOf(tenantId, work), trail, cancel);
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
