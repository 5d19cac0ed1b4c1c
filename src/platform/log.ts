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
  'directDatabaseUrl',
];
const redact = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/** Three parts, as a JWT has them, wherever one begins. */
const tokenForm = /eyJ[\w.-]*/g;
const keyForm = /(?:dbk_|whsec_)[\w+/=-]+/g;
const bearerForm = /(\bBearer +)[^\s"\\]+/gi;
const passwordForm = /(:\/\/[^\s:@/"]*:)[^\s@/"]+@/g;

const hidden = '[secret]';

/**
 * Redacts secrets anywhere in a line, also in error messages: tokens, access keys, webhook secrets,
 * the text after `Bearer`, the password in a URL.
 * Callers control parts of these lines, so matching must take linear time: the patterns cannot
 * backtrack, and none can begin inside a text that it has already scanned without a match.
 */
export function hideSecrets(line: string): string {
  return line
    .replace(tokenForm, (found) => (found.split('.', 3).length === 3 ? hidden : found))
    .replace(keyForm, hidden)
    .replace(bearerForm, `$1${hidden}`)
    .replace(passwordForm, `$1${hidden}@`);
}

/** Maximum length of one text in a line: enough for all messages and stacks of the product. */
const textMax = 4_000;
/** Maximum length of a line; a longer one has many long texts, and is truncated with a mark. */
const lineMax = 64 * 1024;

/** Secrets are redacted before: a truncated secret would not be recognized. */
const cut = (text: string, max = textMax): string =>
  text.length <= max ? text : `${hideSecrets(text).slice(0, max)}... (${text.length} characters)`;

/** Truncates texts that a caller may have chosen: those of fields, and of their fields. */
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

/** A line without secrets and of limited length; still one JSON object. */
function presentLine(line: string): string {
  const shown = hideSecrets(line);
  if (shown.length <= lineMax) return shown;
  const level = Number(/^\{"level":(\d{2})/.exec(shown)?.[1] ?? 50);
  const start = shown.slice(0, textMax);
  const time = new Date().toISOString();
  const msg = `a line of ${line.length} characters was cut`;
  return `${JSON.stringify({ level, time, start, msg })}\n`;
}

/** A path as the log shows it, truncated, since callers choose its length. */
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

/** Only selected fields: others of database errors quote the row, which is customer data. */
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
