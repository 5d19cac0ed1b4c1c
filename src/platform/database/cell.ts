import knex, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import type { TenantDatabase } from '../../kernel/scope.js';
import { isRepeatable } from '../../kernel/sql-state.js';
import type { Logger } from '../log.js';
import type { PoolState } from '../metrics.js';
import { cancelStatement } from './connections/cancel-statement.js';
import { PoolShares } from './pool-shares.js';
import { Caller, forCaller, tenantClient } from './tenant-client.js';
import type { ConnectionSource, PooledConnection, Trail } from './tenant-entrance.js';
import type { TimeLimits, WorkKind } from './time-limits.js';

/** The name of the database of `DATABASE_URL`, where the platform's own tables are. */
export const homeCell = 'home';

/** The tenant id of platform work that serves all tenants; see the first migration. */
export const everyTenant = '*';

/**
 * OIDs of types returned as text: they must not become floats or be shifted by the local time zone.
 */
const textTypes = new Set([
  pg.types.builtins.NUMERIC,
  pg.types.builtins.INT8,
  pg.types.builtins.DATE,
]);

/** OIDs of `numeric[]`, `bigint[]` and `date[]`, whose elements are text, too: read as those of `text[]`. */
const textArrayTypes = new Set([1231, 1016, 1182]);
const textArray = 1009;

const types = {
  getTypeParser: (oid: number, format?: string): unknown =>
    textTypes.has(oid)
      ? (text: string) => text
      : pg.types.getTypeParser(textArrayTypes.has(oid) ? textArray : oid, format as 'text'),
};

export type Limits = Readonly<Record<WorkKind, TimeLimits>>;

/** Sets up a new connection to a server before anybody has it. */
export type OpenSession = (connection: PooledConnection) => Promise<void>;

/** Sends knex's messages to our log; errors are thrown to the caller, too. */
const knexLog = (log: Logger): NonNullable<Knex.Config['log']> => ({
  warn: (message: unknown) => log.warn({ err: message }, 'knex'),
  error: (message: unknown) => log.warn({ err: message }, 'knex'),
  deprecate: (method: unknown) => log.debug({ method }, 'knex: deprecated'),
  debug: (message: unknown) => log.trace({ message }, 'knex'),
});

const poolOf = (url: string, { poolMax, connectMs, open }: CellOptions): Knex.Config => ({
  client: 'pg',
  connection: {
    connectionString: url,
    types,
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    // Statements of a transaction are sent as they come, not one after the other's answer (`writeTogether`).
    pipeline: true,
  } as object,
  pool: {
    min: 0,
    max: poolMax,
    acquireTimeoutMillis: 2 * connectMs,
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

/** What tells of tarn, knex's pool. */
interface Tarn {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

interface BaseClient extends Omit<ConnectionSource, 'shares'> {
  readonly pool: NonNullable<Knex.Config['connectionPool']> & Tarn;
}

/** How a cell is reached. */
export interface CellAddress {
  readonly name: string;
  readonly url: string;
}

interface CellOptions {
  readonly poolMax: number;
  /** Of the connections, what one tenant may hold while others wait. */
  readonly tenantShare: number;
  readonly limits: Limits;
  /** How long a new connection is waited for; for one of the pool, twice as long. */
  readonly connectMs: number;
  readonly open: OpenSession;
  readonly log: Logger | undefined;
  /**
   * After a connection failed, how long others fail at once: an attempt at a server that swallows
   * packets takes seconds.
   */
  readonly restMs: number;
}

/** The name of knex's error where a connection was waited for in vain. */
const poolTimeout = 'KnexTimeoutError';

/** Handles of knex that are kept: one for each tenant and kind of work. */
const handlesMax = 5_000;

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

/**
 * A class, because one is made for every request: unlike closures, its methods cost nothing then. What
 * statements need is made with the first one: ingestion has none.
 */
class TenantHandle implements TenantDatabase {
  readonly tenantId: string;
  readonly #handles: TenantHandles;
  readonly #trail: Trail;
  readonly #work: WorkKind;
  #caller: Caller | undefined;
  #own: Knex | undefined;

  constructor(handles: TenantHandles, tenantId: string, trail: Trail, work: WorkKind) {
    this.tenantId = tenantId;
    this.#handles = handles;
    this.#trail = trail;
    this.#work = work;
  }

  #called(): Caller {
    return (this.#caller ??= new Caller(this.#trail));
  }

  get read(): Knex {
    return (this.#own ??= forCaller(
      this.#handles.shared(this.tenantId, this.#work),
      this.#called(),
    ));
  }

  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
    const caller = this.#called();
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
    this.#called().abandon((running) => this.#handles.cancel(running));
  }

  get isAbandoned(): boolean {
    return this.#caller?.isGone === true;
  }
}

/** Where the connections of a tenant come from. */
export type FindSource = (tenantId: string) => ConnectionSource | Promise<ConnectionSource>;

/** Makes handles of tenants; `find` is asked for each connection. */
export class TenantHandles {
  readonly #handles = new LRUCache<string, Knex>({ max: handlesMax });
  readonly #options: Knex.Config;
  readonly #limits: Limits;
  readonly #log: Logger | undefined;
  readonly #find: FindSource;

  constructor(
    options: Knex.Config,
    { limits, log }: { readonly limits: Limits; readonly log: Logger | undefined },
    find: FindSource,
  ) {
    this.#options = options;
    this.#limits = limits;
    this.#log = log;
    this.#find = find;
  }

  /** What the handles of a tenant share for a kind of work. */
  shared(tenantId: string, work: WorkKind): Knex {
    const key = `${work}/${tenantId}`;
    const known = this.#handles.get(key);
    if (known) return known;
    const client = tenantClient({
      tenantId,
      limits: this.#limits[work],
      source: () => this.#find(tenantId),
      isShared: tenantId !== everyTenant,
    });
    const handle = knex({ client, ...this.#options });
    this.#handles.set(key, handle);
    return handle;
  }

  forTenant(tenantId: string, trail: Trail, work: WorkKind = 'step'): TenantDatabase {
    return new TenantHandle(this, tenantId, trail, work);
  }

  /** Cancels the statement that a connection is running. */
  cancel(running: PooledConnection): Promise<void> {
    return cancelStatement(running, this.#log);
  }
}

/** One PostgreSQL server with this process's connections to it. */
export class Cell implements ConnectionSource {
  readonly name: string;
  readonly shares: PoolShares;
  /** For work that serves all tenants whose rows are here. */
  readonly platform: Knex;
  /** Options of knex for handles whose connections may come from here. */
  readonly options: Knex.Config;
  readonly #base: Knex;
  readonly #client: BaseClient;
  readonly #handles: TenantHandles;
  readonly #restMs: number;
  /** What a connection failed with a moment ago. */
  #refusal: { readonly error: Error; readonly until: number } | undefined;

  constructor({ name, url }: CellAddress, options: CellOptions) {
    const { poolMax, tenantShare, log, restMs } = options;
    this.name = name;
    this.#restMs = restMs;
    this.shares = new PoolShares({ max: poolMax, share: tenantShare });
    const common = {
      ...knexSnakeCaseMappers(),
      // Of what was sent behind a statement that fails, nobody reads what it was with all that was bound.
      compileSqlOnError: false,
      ...(log === undefined ? {} : { log: knexLog(log) }),
    };
    this.#base = knex({ ...poolOf(url, options), ...common });
    this.#client = this.#base.client as BaseClient;
    this.options = { connectionPool: this.#client.pool, ...common };
    this.#handles = new TenantHandles(this.options, options, () => this);
    this.platform = this.#handles.shared(everyTenant, 'step');
  }

  /** A tenant's handle in this server, wherever its rows are: for the platform's own tables. */
  forTenant(tenantId: string, trail: Trail, work?: WorkKind): TenantDatabase {
    return this.#handles.forTenant(tenantId, trail, work);
  }

  async acquireConnection(): Promise<unknown> {
    if (this.#refusal !== undefined) {
      if (performance.now() < this.#refusal.until) throw this.#refusal.error;
      this.#refusal = undefined;
    }
    try {
      return await this.#client.acquireConnection();
    } catch (error) {
      // That a pool is full says nothing about its server.
      const isAway = error instanceof Error && error.name !== poolTimeout;
      if (isAway && this.#restMs > 0) {
        this.#refusal = { error, until: performance.now() + this.#restMs };
      }
      throw error;
    }
  }

  releaseConnection(connection: unknown): Promise<void> {
    return this.#client.releaseConnection(connection);
  }

  /** How full the pool is. */
  pool(): PoolState {
    const { pool } = this.#client;
    return {
      used: pool.numUsed(),
      free: pool.numFree(),
      waiting: pool.numPendingAcquires(),
    };
  }

  /** Throws unless the server answers. */
  async ping(): Promise<void> {
    await this.platform.raw('select 1');
  }

  async close(): Promise<void> {
    await this.#base.destroy();
  }
}
