/** SQLSTATEs that the product handles. */
export const sqlState = {
  untranslatableText: '22P05',
  invalidText: '22021',
  numberOutOfRange: '22003',
  uniqueViolation: '23505',
  checkViolation: '23514',
  /** Ours: the tenant is moved from the cell that was asked. */
  tenantMoves: 'CE001',
  /** Of whatever is sent in a transaction after a statement of it has failed. */
  failedTransaction: '25P02',
  idleInTransaction: '25P03',
  transactionTimeout: '25P04',
  invalidPassword: '28P01',
  unknownDatabase: '3D000',
  serializationFailure: '40001',
  deadlock: '40P01',
  unknownFunction: '42883',
  unknownTable: '42P01',
  configurationLimit: '53400',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
} as const;

interface DatabaseError {
  readonly code?: string;
  readonly constraint?: string;
  readonly message?: string;
}

/**
 * The error as node-postgres threw it. Objection wraps violations and data errors, and its wrapper
 * names no constraint where row-level security makes PostgreSQL leave the key out of the detail.
 */
export function databaseErrorOf(error: unknown): DatabaseError {
  const given = (error ?? {}) as DatabaseError & { readonly nativeError?: DatabaseError };
  return given.nativeError ?? given;
}

/** The SQLSTATE of an error, or the code of a lost connection; an empty text where it has none. */
export const sqlStateOf = (error: unknown): string => databaseErrorOf(error).code ?? '';

/** Deadlocks and failed serializations: the transaction had no effect and may run again. */
export const isRepeatable = (error: unknown): boolean =>
  isOneOf(error, [sqlState.deadlock, sqlState.serializationFailure]);

/** Whether others hold a lock that the statement needs: `isRepeatable`, or a lock timeout. */
export const isContended = (error: unknown): boolean =>
  isRepeatable(error) || isOneOf(error, [sqlState.lockNotAvailable]);

/**
 * Whether the database canceled a statement or transaction because of a time limit, or because the
 * caller has left. The transaction was rolled back.
 */
export const tookTooLong = (error: unknown): boolean =>
  isOneOf(error, [sqlState.queryCanceled, sqlState.idleInTransaction, sqlState.transactionTimeout]);

/**
 * Whether another transaction inserted a key between our read and our write: a retry will find it.
 */
export const isRace = (error: unknown): boolean => isOneOf(error, [sqlState.uniqueViolation]);

/** Whether a table in partitions has none for a row; a violated constraint would be named. */
export function lacksPartition(error: unknown): boolean {
  const { code, constraint, message = '' } = databaseErrorOf(error);
  return (
    code === sqlState.checkViolation &&
    constraint === undefined &&
    message.includes('no partition of relation')
  );
}

/**
 * Whether PostgreSQL refused a value (data exceptions, and constraints other than keys): a retry
 * would fail again.
 */
export const isUnstorable = (error: unknown): boolean =>
  /^2[23]...$/.test(sqlStateOf(error)) && !isRace(error);

/** What the system says of a server that cannot be reached, or of a process that has no more sockets. */
const networkCodes =
  'ECONNREFUSED ECONNRESET EPIPE ENOENT ETIMEDOUT EHOSTUNREACH ENETUNREACH EAI_AGAIN ENOTFOUND EADDRNOTAVAIL EMFILE'.split(
    ' ',
  );

/** Transient errors: a lost connection, shutdown, too many connections, a full disk. */
export const isUnavailable = (error: unknown): boolean =>
  /^(?:08...|53...|57P0[1-4]|58030|CONNECTION_.*)$/.test(sqlStateOf(error)) ||
  isOneOf(error, networkCodes);

const isOneOf = (error: unknown, codes: readonly string[]): boolean =>
  codes.includes(sqlStateOf(error));

/** A connection with the first error of its transaction, until somebody is told of it. */
interface Connection {
  failure?: Error | undefined;
}

/**
 * The answer of a statement. Statements of a transaction are sent one behind the other: those behind one
 * that fails are told only that the transaction has failed, and whoever hears of them first is to be told
 * why. So is who commits it, whom PostgreSQL answers that it has rolled back (docs/decisions/0545).
 */
export async function toldWhy<Answer>(
  connection: Connection,
  answering: Promise<Answer>,
  isRolledBack: (answered: Answer) => boolean = () => false,
): Promise<Answer> {
  try {
    const answered = await answering;
    const { failure } = connection;
    if (isRolledBack(answered)) {
      throw failure ?? new Error('PostgreSQL has rolled back what was to be committed.');
    }
    connection.failure = undefined;
    return answered;
  } catch (error) {
    if (sqlStateOf(error) === sqlState.failedTransaction) throw connection.failure ?? error;
    connection.failure = error as Error;
    throw error;
  }
}
