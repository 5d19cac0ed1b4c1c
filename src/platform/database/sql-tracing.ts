import { LRUCache } from 'lru-cache';
import type { SpanStart, Tracing } from '../tracing.js';

/** What a connection of node-postgres is asked with; `callback` where knex asks. */
type Query = (
  config: string | { readonly text?: string },
  values?: unknown,
  callback?: unknown,
) => unknown;

type Callback = (error: unknown, result: unknown) => void;

const textMax = 2_000;
const described = new LRUCache<string, SpanStart>({ max: 1_000 });

/** Literals stand in statements of ours where they begin a transaction: who acts, for the audit. */
const withoutLiterals = (sql: string): string =>
  sql.replace(/'(?:[^']|'')*'/g, '?').replace(/(?<![\w$."])\d+(?:\.\d+)?\b/g, '?');

/** Named after what it does to which table: few names, and no value among them. */
function describe(sql: string): SpanStart {
  const known = described.get(sql);
  if (known) return known;
  const text = withoutLiterals(sql).replace(/\s+/g, ' ').trim();
  const [operation = 'query'] = /^[a-z]+/i.exec(text) ?? [];
  const [, table] =
    /\b(?:from|into|update|join|lock table)\s+"?([a-z_][a-z0-9_]*)/i.exec(text) ?? [];
  const start: SpanStart = {
    name: [operation.toLowerCase(), ...(table === undefined ? [] : [table])].join(' '),
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation.toLowerCase(),
      'db.collection.name': table,
      'db.query.text': text.slice(0, textMax),
    },
  };
  described.set(sql, start);
  return start;
}

/**
 * Gives every query of a new connection a span below what is under way; the one place that all of them
 * pass, those of knex and prepared ones. What nobody asked for (polls) has none.
 */
export function traceQueries(
  tracing: Tracing,
  connection: { query: unknown; readonly tenantId?: string },
): void {
  const query = (connection.query as Query).bind(connection);
  const traced: Query = (config, values, callback) => {
    const text = typeof config === 'string' ? config : config.text;
    const { attributes, ...start } = describe(text ?? '');
    const end = tracing.begin({
      ...start,
      attributes: { ...attributes, 'durabill.tenant_id': connection.tenantId },
    });
    if (end === undefined) return query(config, values, callback);
    const told =
      (callBack: Callback): Callback =>
      (error, result) => {
        end(error);
        callBack(error, result);
      };
    if (typeof values === 'function') return query(config, told(values as Callback));
    if (typeof callback === 'function') return query(config, values, told(callback as Callback));
    const answer = query(config, values);
    if (answer instanceof Promise) answer.then(() => end(), end);
    else end();
    return answer;
  };
  connection.query = traced;
}
