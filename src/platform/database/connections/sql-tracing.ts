import { LRUCache } from 'lru-cache';
import type { SpanStart, Tracing } from '../../tracing.js';

/** What a connection of node-postgres is asked with; `callback` where knex asks. */
type Query = (
  config: string | { readonly text?: string },
  values?: unknown,
  callback?: unknown,
) => unknown;

type Callback = (error: unknown, result: unknown) => void;

const textMax = 2_000;
const described = new LRUCache<string, SpanStart>({ max: 1_000 });

/**
 * Removes literals; our statements have them where they begin a transaction, with the actor for the
 * audit.
 */
const withoutLiterals = (sql: string): string =>
  sql.replace(/'(?:[^']|'')*'/g, '?').replace(/(?<![\w$."])\d+(?:\.\d+)?\b/g, '?');

/** A span name from the operation and the table: few names, without values. */
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
 * Gives each query of a new connection a span below the active one, at the single point that all
 * queries pass, those of knex and prepared ones. Queries without an active span (polls) get none.
 */
export function traceQueries(
  tracing: Tracing,
  connection: { query: unknown; readonly tenantId?: string | undefined },
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
