import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import PostgresTransaction from 'knex/lib/dialects/postgres/execution/pg-transaction.js';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { sqlState, toldWhy } from '../../kernel/sql-state.js';

import type { PoolShares } from './pool-shares.js';
import type { ConnectionSource, Entrance, PooledConnection, Trail } from './tenant-entrance.js';
import type { TimeLimits } from './time-limits.js';

/** A transaction of an entered tenant, with the time limits of transactions. */
class EnteredTransaction extends PostgresTransaction {
  readonly #entrance: Entrance;

  constructor(
    client: Knex.Client,
    work: unknown,
    config: unknown,
    outer: unknown,
    entrance: Entrance,
  ) {
    super(client, work, config, outer);
    this.#entrance = entrance;
  }

  /**
   * `begin` makes the implicit transaction of `enter_tenant` a block, which keeps what that has set.
   * The statements within it follow as they are.
   */
  override async begin(connection: PooledConnection): Promise<unknown> {
    connection.entrance = this.#entrance;
    const begun = await this.query(connection, 'begin');
    connection.entrance = undefined;
    return begun;
  }
}

/** A statement with its answer, as knex hands it on. */
interface Answered {
  readonly sql: string;
  readonly response: { readonly command: string };
}

/** Whether a transaction was to be committed that PostgreSQL has rolled back. */
const isRolledBack = ({ sql, response }: Answered): boolean =>
  sql.startsWith('COMMIT') && response.command === 'ROLLBACK';

/** The answer of a commit and of the statement right before it, which fails before it where both do. */
async function commitOf(
  behind: Promise<unknown>,
  committing: Promise<Answered>,
): Promise<Answered> {
  const [written, committed] = await Promise.allSettled([behind, committing]);
  if (written.status === 'rejected') throw written.reason;
  if (committed.status === 'rejected') throw committed.reason;
  return committed.value;
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
  readonly trail: Trail;
  readonly connections = new Set<PooledConnection>();
  /** Open transactions: work within them must not wait for other work of the tenant. */
  transactions = 0;
  isGone = false;
  giveUp: ((error: Error) => void) | undefined;

  constructor(trail: Trail) {
    this.trail = trail;
  }

  /** Cancels running statements and pending waits; no new ones are started. */
  abandon(cancel: (running: PooledConnection) => Promise<void>): void {
    if (this.isGone) return;
    this.isGone = true;
    this.giveUp?.(new AbandonedError());
    for (const connection of this.connections) void this.#end(connection, cancel);
  }

  /** Repeated, since between two statements there is nothing to cancel. */
  async #end(
    connection: PooledConnection,
    cancel: (running: PooledConnection) => Promise<void>,
  ): Promise<void> {
    for (let delayMs = cancelDelayMinMs; this.connections.has(connection);) {
      connection.canceling = cancel(connection);
      await connection.canceling;
      connection.canceling = undefined;
      await wait(delayMs, undefined, { ref: false });
      delayMs = Math.min(2 * delayMs, cancelDelayMaxMs);
    }
  }
}

interface TenantClientOptions {
  readonly tenantId: string;
  readonly limits: TimeLimits;
  /** Asked for each connection: a tenant's rows may be in another server than before. */
  readonly source: () => ConnectionSource | Promise<ConnectionSource>;
  /** Whether it takes a share: the platform's own work does not. */
  readonly isShared: boolean;
}

/**
 * A knex client on the pools of all tenants. Whatever it sends enters the tenant first, in the same round
 * trip, with the trail of its caller and the time limits of a kind of work
 * (docs/decisions/0328-nothing-stays-in-a-session.md). Before it acquires a connection, it waits for
 * its tenant's turn.
 */
export function tenantClient(options: TenantClientOptions) {
  const { tenantId, limits, source } = options;
  const { readMs, writeMs } = limits;
  const enter = (shares: PoolShares, caller: Caller | undefined): Promise<void> | undefined =>
    shares.enter(tenantId, (giveUp) => {
      if (caller) caller.giveUp = giveUp;
    });

  return class TenantClient extends PostgresClient {
    /** Whose work it does: see `forCaller`. */
    caller?: Caller;

    override transaction(container: unknown, config: Trail, outer: unknown): Knex.Transaction {
      const entrance = { tenantId, trail: config, limits, statementMs: writeMs };
      const transaction = new EnteredTransaction(this, container, config, outer, entrance);
      return transaction as unknown as Knex.Transaction;
    }

    override query(connection: PooledConnection, statement: unknown): Promise<Answered> {
      const { behind } = connection;
      const answering = super.query(connection, statement) as Promise<Answered>;
      const ending = behind && statement === 'COMMIT;' ? commitOf(behind, answering) : answering;
      return toldWhy(connection, ending, isRolledBack);
    }

    override async acquireConnection(): Promise<PooledConnection> {
      const { caller } = this;
      if (caller?.isGone === true) throw new AbandonedError();
      const found = source();
      const origin = found instanceof Promise ? await found : found;
      const isShared = options.isShared && (caller?.transactions ?? 0) === 0;
      if (isShared) {
        const turn = enter(origin.shares, caller);
        if (turn !== undefined) await turn;
      }
      let connection: PooledConnection;
      try {
        connection = (await origin.acquireConnection()) as PooledConnection;
      } catch (error) {
        if (isShared) origin.shares.leave(tenantId);
        throw error;
      }
      connection.origin = origin;
      connection.isShared = isShared;
      // The caller may have left since the check above.
      if ((caller as { isGone: boolean } | undefined)?.isGone === true) {
        await this.releaseConnection(connection);
        throw new AbandonedError();
      }
      caller?.connections.add(connection);
      connection.tenantId = tenantId;
      connection.entrance = { tenantId, trail: caller?.trail ?? {}, limits, statementMs: readMs };
      return connection;
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
      const { isShared, origin } = connection;
      connection.isShared = false;
      connection.entrance = undefined;
      connection.behind = undefined;
      connection.tenantId = undefined;
      void origin?.releaseConnection(connection);
      if (isShared === true) origin?.shares.leave(tenantId);
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
