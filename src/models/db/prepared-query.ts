import type { Knex } from 'knex';
import type { TenantModel, TenantQueryBuilder } from './tenant-model.js';

/** What the values are that differ from one run of a query to the next. */
type Kinds = Readonly<Record<string, 'text' | 'number'>>;
type Values<K extends Kinds> = { readonly [N in keyof K]: K[N] extends 'number' ? number : string };
type AnyValues = Readonly<Record<string, string | number>>;

/** A model whose queries name a tenant. */
export interface QueryableModel<M extends TenantModel> {
  new (): M;
  query(db: Knex): object;
}

/** Runs the query for a tenant. The records are loaded without hooks and relations. */
export type PreparedQuery<M, K extends Kinds> = (
  db: Knex,
  tenantId: string,
  values: Values<K>,
) => Promise<M[]>;

interface Result {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}
interface Connection {
  query(config: { text: string; values: unknown[]; rowMode: 'array' }): Promise<Result>;
}
/** What takes connections from the pool; that of a transaction always gives the transaction's. */
interface ConnectionSource {
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<unknown>;
}

interface Plan {
  readonly text: string;
  /** Gives each parameter of the text its value. */
  readonly parameters: readonly ((tenantId: string, values: AnyValues) => unknown)[];
}

/** No tenant and no text of a caller can look like a mark, and nobody asks for such a page. */
const tenantMark = '\0tenant';
const markOf = (name: string, index: number, kinds: Kinds): string | number =>
  kinds[name] === 'number' ? 2 ** 52 + index : `\0${name}`;

const camelCase = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** Builds the query with marks in the place of its values, to learn where each of them goes. */
function compile<M extends TenantModel>(
  kinds: Kinds,
  build: (marks: AnyValues) => TenantQueryBuilder<M, unknown>,
): Plan {
  const names = Object.keys(kinds);
  const marks = new Map(names.map((name, index) => [name, markOf(name, index, kinds)]));
  const { sql, bindings } = build(Object.fromEntries(marks))
    .forTenant(tenantMark)
    .toKnexQuery()
    .toSQL()
    .toNative();
  if (!bindings.includes(tenantMark)) throw new Error(`A prepared query names no tenant: ${sql}`);
  const nameOfMark = new Map<unknown, string>([...marks].map(([name, mark]) => [mark, name]));
  const parameters = bindings.map((binding): Plan['parameters'][number] => {
    if (binding === tenantMark) return (tenantId) => tenantId;
    const name = nameOfMark.get(binding);
    return name === undefined ? () => binding : (_tenantId, values) => values[name];
  });
  return { text: sql, parameters };
}

function areNamed(fields: Result['fields'], names: readonly string[]): boolean {
  if (fields.length !== names.length) return false;
  for (let at = 0; at < names.length; at += 1) if (fields[at]?.name !== names[at]) return false;
  return true;
}

async function run(db: Knex, text: string, values: unknown[]): Promise<Result> {
  const source = db.client as ConnectionSource;
  const connection = await source.acquireConnection();
  try {
    return await connection.query({ text, values, rowMode: 'array' });
  } finally {
    void source.releaseConnection(connection);
  }
}

/**
 * A read whose SQL is built once in each process: building it through Objection and knex costs more
 * than running it (docs/decisions/0055). `kinds` tells its values apart; `build` makes the query
 * with the model's own builder, so it is under the same tenant rules as any other. A transaction is
 * taken as `db` like a handle.
 */
export function prepareQuery<M extends TenantModel, const K extends Kinds>(
  model: QueryableModel<M>,
  kinds: K,
  build: (query: TenantQueryBuilder<M>, values: Values<K>) => TenantQueryBuilder<M, unknown>,
): PreparedQuery<M, K> {
  let plan: Plan | undefined;
  let names: readonly string[] = [];
  let columns: readonly string[] = [];
  return async (db, tenantId, values) => {
    if (tenantId === '') throw new Error('A query was given an empty tenant id.');
    plan ??= compile(kinds, (marks) =>
      build(model.query(db) as TenantQueryBuilder<M>, marks as Values<K>),
    );
    const parameters = plan.parameters.map((parameter) => parameter(tenantId, values));
    const { fields, rows } = await run(db, plan.text, parameters);
    // A migration of a newer release may add, drop or rename columns while this process runs: an
    // answer says itself which it holds, and in which order.
    if (!areNamed(fields, names)) {
      names = fields.map(({ name }) => name);
      columns = names.map(camelCase);
    }
    return rows.map((row) => {
      const record = new model();
      columns.forEach((column, index) => {
        (record as unknown as Record<string, unknown>)[column] = row[index];
      });
      return record;
    });
  };
}
