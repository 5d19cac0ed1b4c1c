import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import PostgresTransaction from 'knex/lib/dialects/postgres/execution/pg-transaction.js';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import pg from 'pg';
import { sqlState } from '../../kernel/sql-state.js';
import type { PoolShares } from './pool-shares.js';
import { sessionSettings, type TimeLimits, type WorkKind } from './time-limits.js';

export interface PooledConnection {
  readonly query: (sql: string, values?: unknown[]) => Promise<unknown>;
  /** Of the server, as `server_version_num` has it. */
  version: number;
  /** Of the backend that serves the session. */
  pid: number;
  /** Whose rows the session may see. */
  tenantId?: string;
  /** What the session's time limits are for. */
  work?: WorkKind;
  /** Whether it counts for its tenant's share of the pool. */
  isShared?: boolean;
  /** Set while its statement is being canceled: the next statement must not be hit. */
  canceling?: Promise<void> | undefined;
}

/** Who the audit names. */
export interface Trail {
  readonly actor: string;
  readonly requestId: string;
  /** The id that the caller chose for its request, if it chose one. */
  readonly callerRequestId?: string | undefined;
}

const setConfig = (name: string, value: string, isLocal: boolean): string =>
  `set_config('${name}', ${pg.escapeLiteral(value)}, ${isLocal})`;

/** A transaction whose BEGIN statement also sets the actor for the audit and the time limits. */
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

/** The work was abandoned because its caller has left; handled like a canceled statement. */
class AbandonedError extends Error {
  readonly code = sqlState.queryCanceled;

  constructor() {
    super('Nobody waits for this any more.');
    this.name = 'AbandonedError';
  }
}

const done = Promise.resolve();

const cancelDelayMinMs = 50;
const cancelDelayMaxMs = 1_000;

/** A request, a step or a batch, with the connections that it holds or waits for. */
export class Caller {
  readonly connections = new Set<PooledConnection>();
  /** Open transactions: work within them must not wait for other work of the tenant. */
  transactions = 0;
  isGone = false;
  giveUp: ((error: Error) => void) | undefined;

  /** Cancels running statements and pending waits; no new ones are started. */
  abandon(cancel: (pid: number) => Promise<void>): void {
    if (this.isGone) return;
    this.isGone = true;
    this.giveUp?.(new AbandonedError());
    for (const connection of this.connections) void this.#end(connection, cancel);
  }

  /** Repeated, since between two statements there is nothing to cancel. */
  async #end(connection: PooledConnection, cancel: (pid: number) => Promise<void>): Promise<void> {
    for (let delayMs = cancelDelayMinMs; this.connections.has(connection);) {
      connection.canceling = cancel(connection.pid);
      await connection.canceling;
      connection.canceling = undefined;
      await wait(delayMs, undefined, { ref: false });
      delayMs = Math.min(2 * delayMs, cancelDelayMaxMs);
    }
  }
}

interface TenantClientOptions {
  readonly tenantId: string;
  readonly work: WorkKind;
  readonly limits: TimeLimits;
  /** Undefined for the platform's own work. */
  readonly shares: PoolShares | undefined;
}

/**
 * A knex client on the shared pool. Its sessions carry the tenant's id and the time limits of a
 * kind of work, set when a connection is acquired, and only if they differ: repeated use by one
 * tenant for the same kind of work needs no extra round trip
 * (docs/decisions/0001-tenant-at-checkout.md). Before it acquires a connection, it waits for its
 * tenant's turn.
 */
export function tenantClient({ tenantId, work, limits, shares }: TenantClientOptions) {
  const isPrepared = (connection: PooledConnection): boolean =>
    connection.tenantId === tenantId && connection.work === work;
  const prepare = async (connection: PooledConnection): Promise<void> => {
    const settings: [string, string][] = [['app.tenant_id', tenantId]];
    if (connection.work !== work) settings.push(...sessionSettings(limits, connection.version));
    const calls = settings.map(([name, value]) => setConfig(name, value, false));
    await connection.query(`select ${calls.join(', ')}`);
    Object.assign(connection, { tenantId, work });
  };
  const enter = (caller: Caller | undefined): Promise<void> | undefined =>
    shares?.enter(tenantId, (giveUp) => {
      if (caller) caller.giveUp = giveUp;
    });

  return class TenantClient extends PostgresClient {
    /** Whose work it does: see `forCaller`. */
    caller?: Caller;

    override transaction(container: unknown, config: Trail, outer: unknown): Knex.Transaction {
      const transaction = new TrailedTransaction(this, container, config, outer, limits);
      return transaction as unknown as Knex.Transaction;
    }

    override async acquireConnection(): Promise<PooledConnection> {
      const { caller } = this;
      if (caller?.isGone === true) throw new AbandonedError();
      const isShared = shares !== undefined && (caller?.transactions ?? 0) === 0;
      if (isShared) {
        const turn = enter(caller);
        if (turn !== undefined) await turn;
      }
      let connection: PooledConnection;
      try {
        connection = (await super.acquireConnection()) as PooledConnection;
      } catch (error) {
        if (isShared) shares.leave(tenantId);
        throw error;
      }
      connection.isShared = isShared;
      try {
        if (!isPrepared(connection)) await prepare(connection);
        caller?.connections.add(connection);
        // The caller may have left since the check above.
        if ((caller as { isGone: boolean } | undefined)?.isGone === true)
          throw new AbandonedError();
        return connection;
      } catch (error) {
        await this.releaseConnection(connection);
        throw error;
      }
    }

    override releaseConnection(connection: PooledConnection): Promise<void> {
      this.caller?.connections.delete(connection);
      const { canceling } = connection;
      if (canceling !== undefined) return canceling.then(() => this.giveBack(connection));
      this.giveBack(connection);
      return done;
    }

    /**
     * Not a `#` private method: the object of `forCaller` inherits from a client without being one.
     */
    giveBack(connection: PooledConnection): void {
      const { isShared } = connection;
      connection.isShared = false;
      void super.releaseConnection(connection);
      if (isShared === true) shares?.leave(tenantId);
    }
  };
}

/** Internals of knex, which its types do not declare. */
interface Inner {
  readonly context: { client: object; queryBuilder(): Knex.QueryBuilder };
}

/**
 * The same handle for one caller, so that its statements can be canceled separately. Made for every
 * request, by prototype: it shares all but the client, which shares all but the caller.
 */
export function forCaller(handle: Knex, caller: Caller): Knex {
  const shared = handle as unknown as Inner;
  const client = Object.assign(Object.create(shared.context.client) as object, { caller });
  const context = Object.create(shared.context) as Inner['context'];
  context.client = client;
  const own = (table: string): Knex.QueryBuilder => context.queryBuilder().table(table);
  Object.setPrototypeOf(own, handle);
  Object.defineProperty(own, 'context', { value: context });
  return own as unknown as Knex;
}
