import type { Readable } from 'node:stream';
import pg from 'pg';
import { sqlState, sqlStateOf } from '../../kernel/sql-state.js';
import type { PoolShares } from './pool-shares.js';
import type { TimeLimits } from './time-limits.js';

/** Where connections come from: a server, and how its connections are divided among tenants. */
export interface ConnectionSource {
  readonly shares: PoolShares;
  acquireConnection(): Promise<unknown>;
  releaseConnection(connection: unknown): Promise<void>;
}

/** Who the audit names. */
export interface Trail {
  readonly actor: string;
  readonly requestId: string;
  /** The id that the caller chose for its request, if it chose one. */
  readonly callerRequestId?: string | undefined;
}

/** What each transaction begins with, also the implicit one of a single statement. */
export interface Entrance {
  /** Whose rows it may see. */
  readonly tenantId: string;
  readonly trail: Partial<Trail>;
  readonly limits: TimeLimits;
  /** Of a statement, in milliseconds: `limits` has one within transactions and one outside. */
  readonly statementMs: number;
}

/** What a connection has told of its server and its login. */
interface SessionFacts {
  /** As `server_version_num` has it. */
  readonly version: number;
  /** Whether the login may do what row-level security forbids. */
  readonly bypasses: boolean;
  /** Whether a pooler is between: it may give each transaction another session. */
  readonly isPooled: boolean;
}

/** How tenants are entered where there are several cells. */
export interface CellEntrance {
  /** Called for a tenant that may not be entered here any more. */
  readonly onFenced: (tenantId: string) => void;
}

/** A connection of node-postgres, as the pool has it and as far as its types do not declare it. */
export interface PooledConnection {
  query: Query;
  /** The protocol of the connection, with its socket. */
  readonly connection: { readonly stream: Readable };
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | object;
  /** By which the server knows the connection where its statement is to be canceled. */
  readonly processID: number;
  readonly secretKey: number;
  /** Whom statements are for; undefined in a transaction, which has been entered, and of nobody. */
  entrance: Entrance | undefined;
  /** What made the transaction fail that it is in. */
  failure?: Error | undefined;
  /** The statement of its transaction that nobody waits for but the commit: see `writeBehind`. */
  behind?: Promise<unknown> | undefined;
  /** Who has it, for traces. */
  tenantId?: string | undefined;
  /** Whether the session knows `enter_tenant` as a prepared statement. */
  isPrepared?: boolean;
  /** Where it came from and goes back to. */
  origin?: ConnectionSource;
  /** Whether it counts for its tenant's share of the pool. */
  isShared?: boolean;
  /** Set while its statement is being canceled: the next statement must not be hit. */
  canceling?: Promise<void> | undefined;
}

/** PostgreSQL knows `transaction_timeout` from this version on. */
const transactionTimeoutSince = 170_000;

/** The role that logins switch to that may bypass row-level security; see the first migration. */
const boundRole = 'durabill_app';

/** The function of the migrations. */
const enterAlone = 'enter_tenant';
/** The same where there are several cells: it refuses tenants that are moved from this one. */
const enterCell = 'enter_cell_tenant';
const enterSql = (name: string): string => `select ${name}($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** The arguments of `enter_tenant`. */
function argumentsOf(
  { tenantId, trail, limits, statementMs }: Entrance,
  { version, bypasses }: SessionFacts,
): readonly (string | null)[] {
  const { actor = '', requestId = '', callerRequestId = '' } = trail;
  return [
    tenantId,
    actor,
    requestId,
    callerRequestId,
    bypasses ? boundRole : null,
    String(statementMs),
    String(limits.lockMs),
    String(limits.idleMs),
    version < transactionTimeoutSince ? null : String(limits.transactionMs),
  ];
}

type Callback = (error: Error | null, result: unknown) => void;
type Query = (config: unknown, values?: unknown, callback?: unknown) => unknown;

/** The messages of the protocol, as node-postgres sends them. */
interface Wire {
  /** The statements of the session that have a name. */
  readonly parsedStatements: Record<string, string>;
  readonly stream: { readonly writable: boolean; cork(): void; uncork(): void };
  close(statement: { type: 'S'; name: string }): void;
  parse(statement: { text: string; name: string }): void;
  bind(portal: { statement: string; values: readonly (string | null)[] }): void;
  execute(portal: { portal: string; rows: number }): void;
}

interface NodePostgresQuery {
  /** Of a statement that stays prepared in its session. */
  name?: string | undefined;
  handleError(error: Error, wire: Wire): void;
  /** Sends the statement itself, up to the Sync message. */
  prepare(wire: Wire): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
}
const PlainQuery = pg.Query as unknown as new (
  config: unknown,
  values: unknown,
) => NodePostgresQuery;

/**
 * A statement with `enter_tenant` before it, in one round trip. There is no Sync message between the
 * two, so PostgreSQL runs them in one transaction (its documentation of the protocol, "Pipelining"):
 * what the first sets holds for the second and ends with it, and where the first fails the second
 * does not run.
 */
class EnteredQuery extends PlainQuery {
  readonly #connection: PooledConnection;
  readonly #values: readonly (string | null)[];
  readonly #name: string;
  readonly #sql: string;
  #isEntered = false;

  constructor(
    connection: PooledConnection,
    { entrance, facts, enter }: { entrance: Entrance; facts: SessionFacts; enter: string },
    config: unknown,
    values: unknown,
  ) {
    super(facts.isPooled ? withoutName(config) : config, values);
    this.#connection = connection;
    this.#values = argumentsOf(entrance, facts);
    this.#name = facts.isPooled ? '' : enter;
    this.#sql = enterSql(enter);
  }

  submit(wire: Wire): null {
    const isKnown = this.#name !== '' && this.#connection.isPrepared === true;
    wire.stream.cork();
    try {
      if (!isKnown) {
        // Where the first entrance failed, the session has the statement nevertheless.
        if (this.#name !== '') wire.close({ type: 'S', name: this.#name });
        wire.parse({ text: this.#sql, name: this.#name });
      }
      wire.bind({ statement: this.#name, values: this.#values });
      wire.execute({ portal: '', rows: 0 });
      this.prepare(wire);
    } finally {
      wire.stream.uncork();
    }
    return null;
  }

  /**
   * Whether the session has prepared the statement is not known: the driver may have heard it of the
   * entrance. So neither has it now, for whatever comes next, in a transaction too.
   */
  override handleError(error: Error, wire: Wire): void {
    const { name } = this;
    if (name !== undefined) {
      Reflect.deleteProperty(wire.parsedStatements, name);
      if (wire.stream.writable) wire.close({ type: 'S', name });
    }
    super.handleError(error, wire);
  }

  override handleDataRow(message: unknown): void {
    if (this.#isEntered) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#isEntered) {
      super.handleCommandComplete(message, wire);
      return;
    }
    this.#isEntered = true;
    this.#connection.isPrepared = true;
  }
}

/** A statement as it is sent through a pooler, whose next session need not have prepared what has a name. */
const withoutName = (config: unknown): unknown =>
  typeof config === 'object' && config !== null && 'name' in config
    ? { ...config, name: undefined }
    : config;

/** The same callback, which also hears that a tenant is not here any more. */
function noteFence(told: unknown, { tenantId }: Entrance, { onFenced }: CellEntrance): unknown {
  if (typeof told !== 'function') return told;
  return (error: Error | null, result: unknown): void => {
    if (sqlStateOf(error) === sqlState.tenantMoves) onFenced(tenantId);
    (told as Callback)(error, result);
  };
}

async function readFacts(connection: PooledConnection): Promise<SessionFacts> {
  // The session's user: the role that it has switched to says nothing about what it may do.
  const { rows } = (await connection.query(
    `select current_setting('server_version_num')::integer as "version",
       rolsuper or rolbypassrls as "bypasses", pg_backend_pid() as "pid"
     from pg_roles where rolname = session_user`,
  )) as { rows: { version: number; bypasses: boolean; pid: number }[] };
  const { version = 0, bypasses = true, pid } = rows[0] ?? {};
  // A pooler has keys of its own for the connections that it accepts.
  return { version, bypasses, isPooled: pid !== connection.processID };
}

/**
 * Makes each statement of a new connection enter the tenant of its entrance, at the single point that
 * all statements pass. Without an entrance a statement goes as it is; outside of an entered
 * transaction row-level security shows it nothing. Returns whether the login may bypass that, were
 * it not for the role that `enter_tenant` switches to.
 */
export async function enterTenants(
  connection: PooledConnection,
  cell?: CellEntrance,
): Promise<boolean> {
  const facts = await readFacts(connection);
  const query = connection.query.bind(connection);
  const enter = cell === undefined ? enterAlone : enterCell;
  connection.query = (config, values, callback) => {
    const { entrance } = connection;
    if (entrance === undefined) {
      return query(facts.isPooled ? withoutName(config) : config, values, callback);
    }
    const [given, told] = typeof values === 'function' ? [undefined, values] : [values, callback];
    const entered = new EnteredQuery(connection, { entrance, facts, enter }, config, given);
    const watched = cell === undefined ? told : noteFence(told, entrance, cell);
    if (watched !== undefined) return query(entered, watched);
    return new Promise((resolve, reject) => {
      const settle: Callback = (error, result) => (error ? reject(error) : resolve(result));
      query(entered, settle);
    });
  };
  return facts.bypasses;
}
