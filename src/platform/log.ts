import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Fields that hold secrets, whoever logs them and up to two levels deep. */
const secretFields = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'secrets',
  'sealedSecrets',
  'token',
  'access_token',
  'refresh_token',
  'client_secret',
  'code_verifier',
  'apiKey',
  'accessKey',
  'connectionString',
  'databaseUrl',
];
const redact = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/** Three parts, as a JWT has them, wherever one begins. */
const tokenForm = /eyJ[\w.-]*/g;
const keyForm = /(?:dbk_|whsec_)[\w+/=-]+/g;
const bearerForm = /(\bBearer +)[^\s"\\]+/gi;
const passwordForm = /(:\/\/[^\s:@/"]*:)[^\s@/"]+@/g;

const hidden = '[secret]';

/**
 * Hides what looks like a secret of ours wherever it stands, also in the message of an error: tokens,
 * access keys, secrets of webhooks, what follows `Bearer`, the password in an address.
 *
 * Callers write parts of these lines, so that the time must grow with the length alone: each form takes
 * all that it looks at, and none begins within what it has looked at in vain.
 */
export function hideSecrets(line: string): string {
  return line
    .replace(tokenForm, (found) => (found.split('.', 3).length === 3 ? hidden : found))
    .replace(keyForm, hidden)
    .replace(bearerForm, `$1${hidden}`)
    .replace(passwordForm, `$1${hidden}@`);
}

/** Of a text in a line: enough for every message and stack of ours. */
const textMax = 4_000;
/** Of a whole line; what is longer has many long texts, and is cut where it says so. */
const lineMax = 64 * 1024;

/** Secrets are hidden before: of one that is cut in two, nobody would see that it is one. */
const cut = (text: string, max = textMax): string =>
  text.length <= max ? text : `${hideSecrets(text).slice(0, max)}... (${text.length} characters)`;

/** The texts that somebody else may have chosen, cut: those of fields, and of fields of fields. */
function boundTexts(fields: Record<string, unknown>): Record<string, unknown> {
  for (const value of Object.values(fields)) {
    const isLong = typeof value === 'string' ? value.length > textMax : isPlainObject(value);
    if (isLong) return mapTexts(fields);
  }
  return fields;
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function mapTexts(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const bounded = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (typeof value === 'string') return [name, cut(value)];
    return [name, isPlainObject(value) && depth < 3 ? mapTexts(value, depth + 1) : value];
  });
  return Object.fromEntries(bounded);
}

/** A line without secrets, and not longer than anybody reads; still one object of JSON. */
function presentLine(line: string): string {
  const shown = hideSecrets(line);
  if (shown.length <= lineMax) return shown;
  const level = Number(/^\{"level":(\d{2})/.exec(shown)?.[1] ?? 50);
  const start = shown.slice(0, textMax);
  const time = new Date().toISOString();
  const msg = `a line of ${line.length} characters was cut`;
  return `${JSON.stringify({ level, time, start, msg })}\n`;
}

/** A path as a line of the log shows it: callers choose how long theirs are. */
export const shownPath = (path: string): string => cut(path, 200);

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
    type: name,
    message: message && cut(message),
    stack: stack && cut(stack),
    code,
    constraint,
    table,
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
    formatters: { log: boundTexts },
    hooks: { streamWrite: presentLine },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
