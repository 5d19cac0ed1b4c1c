/** The codes of PostgreSQL's errors that something of ours answers to. */
export const sqlState = {
  untranslatableText: '22P05',
  invalidText: '22021',
  numberOutOfRange: '22003',
  uniqueViolation: '23505',
  idleInTransaction: '25P03',
  transactionTimeout: '25P04',
  invalidPassword: '28P01',
  unknownDatabase: '3D000',
  serializationFailure: '40001',
  deadlock: '40P01',
  unknownTable: '42P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
} as const;

interface DatabaseError {
  readonly code?: string;
  readonly constraint?: string;
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

/** Whether others hold what the statement needs: `isRepeatable`, or no lock came in time. */
export const isContended = (error: unknown): boolean =>
  isRepeatable(error) || isOneOf(error, [sqlState.lockNotAvailable]);

/**
 * Whether the database gave up on a statement or a transaction because it took too long, or because
 * whoever asked has left. Nothing of the transaction was done.
 */
export const tookTooLong = (error: unknown): boolean =>
  isOneOf(error, [sqlState.queryCanceled, sqlState.idleInTransaction, sqlState.transactionTimeout]);

/**
 * Whether another transaction took a key between our look and our write: done again, it will be seen.
 */
export const isRace = (error: unknown): boolean => isOneOf(error, [sqlState.uniqueViolation]);

/**
 * Whether PostgreSQL refused a value (data exceptions, and constraints other than keys): it would do
 * so again, however often the same is written.
 */
export const isUnstorable = (error: unknown): boolean =>
  /^2[23]...$/.test(sqlStateOf(error)) && !isRace(error);

/** Whether it says "not now": a lost connection, shutdown, too many connections, a full disk. */
export const isUnavailable = (error: unknown): boolean =>
  /^(?:08...|53...|57P0[1-4]|58030|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|CONNECTION_.*)$/.test(
    sqlStateOf(error),
  );

const isOneOf = (error: unknown, codes: readonly string[]): boolean =>
  codes.includes(sqlStateOf(error));
