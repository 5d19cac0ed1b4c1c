import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Fields that hold secrets, whoever logs them and up to two levels deep. */
const secretFields = [
  ...['authorization', 'cookie', 'password', 'secret', 'secrets', 'sealedSecrets', 'token'],
  ...['access_token', 'refresh_token', 'client_secret', 'code_verifier', 'apiKey', 'accessKey'],
  ...['connectionString', 'databaseUrl'],
];
const redact = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/**
 * What looks like a secret of ours wherever it stands, also in the message of an error: tokens, access
 * keys, secrets of webhooks, what follows `Bearer`, the password in an address.
 */
const secretForms =
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+|\bdbk_[\w-]+|\bwhsec_[\w+/=-]+|(?<=\bBearer )[^\s"\\]+|(?<=:\/\/[^\s:@/"]{0,100}:)[^\s@/"]+(?=@)/g;

interface Fault {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly table?: unknown;
  readonly cause?: unknown;
}

/** Chosen fields alone: others of the database's errors quote the row, which is the customer's. */
function presentError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, code, constraint, table, cause } = error as Fault;
  return {
    ...{ type: name, message, stack, code, constraint, table },
    ...(cause === undefined || depth === 3 ? {} : { cause: presentError(cause, depth + 1) }),
  };
}

/**
 * The log of this process: JSON lines, on standard output unless told otherwise, without secrets. `ids`
 * stand in every line, such as those of its trace.
 */
export function openLog(
  level: string,
  destination?: DestinationStream,
  ids: () => object = () => ({}),
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact,
    mixin: ids,
    serializers: { err: (error: unknown) => presentError(error) },
    hooks: { streamWrite: (line: string) => line.replace(secretForms, '[secret]') },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
