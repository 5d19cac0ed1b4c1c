import type pg from 'pg';
import type { RowKeys } from './change-stream.js';
import { MoveError } from './move-error.js';
import { keyTerm, tableSql, type MovedTable } from './moved-tables.js';

/** Rows of a table that differ between two databases. */
export interface RowDifference {
  readonly table: string;
  readonly source: string;
  readonly target: string;
}

/** How many rows there are, and the sum of their checksums, which no order changes. */
export interface RowSum {
  readonly count: bigint;
  readonly checksum: bigint;
}

/** Of the same rows in both databases. */
export interface RowSums {
  readonly source: RowSum;
  readonly target: RowSum;
}

/** The two databases whose rows are compared. */
export interface Sides {
  readonly source: pg.Client;
  readonly target: pg.Client;
}

/** Settings by which a row is the same text everywhere, and what is written is on the disk when it is answered. */
const sameText = `set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres';
  set extra_float_digits = 1; set bytea_output = 'hex'; set synchronous_commit = on`;

/** A large table takes longer than a login may have for its statements. */
const withoutLimits = `select set_config(name, '0', false) from pg_settings where name in
  ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
   'transaction_timeout')`;

export async function prepareComparison(client: pg.Client): Promise<void> {
  await client.query(sameText);
  await client.query(withoutLimits);
}

/** Keys that are looked up at once. */
const keysAtOnce = 2_000;

const nothing: RowSum = { count: 0n, checksum: 0n };

const plus = (one: RowSum, other: RowSum): RowSum => ({
  count: one.count + other.count,
  checksum: one.checksum + other.checksum,
});

const minus = (one: RowSum, other: RowSum): RowSum => ({
  count: one.count - other.count,
  checksum: one.checksum - other.checksum,
});

async function readSum(
  client: pg.Client,
  rest: string,
  values: readonly unknown[],
): Promise<RowSum> {
  const { rows } = await client.query<{ count: string; checksum: string }>(
    `select count(*)::text as count,
       coalesce(sum(hashtextextended(row_text::text, 0)::numeric), 0)::text as checksum
     from ${rest}`,
    [...values],
  );
  const { count = '0', checksum = '0' } = rows[0] ?? {};
  return { count: BigInt(count), checksum: BigInt(checksum) };
}

const both = async (
  { source, target }: Sides,
  sumOf: (client: pg.Client) => Promise<RowSum>,
): Promise<RowSums> => {
  const [ofSource, ofTarget] = await Promise.all([sumOf(source), sumOf(target)]);
  return { source: ofSource, target: ofTarget };
};

/** Of all rows of a tenant in a table. */
export const sumAll = (sides: Sides, table: MovedTable, tenantId: string): Promise<RowSums> =>
  both(sides, (client) =>
    readSum(client, `${tableSql(table)} as row_text where tenant_id = $1`, [tenantId]),
  );

/** Rows of a tenant by their keys, without those that others name. */
export interface NamedRows {
  readonly tenantId: string;
  readonly keys: RowKeys;
  readonly except?: RowKeys | undefined;
}

/** JSON lists of keys, so many as are looked up at once. */
function* portionsOf(
  keys: ReadonlySet<string>,
  except: ReadonlySet<string> | undefined,
): Generator<string> {
  let portion: string[] = [];
  for (const key of keys) {
    if (except?.has(key) === true) continue;
    portion.push(key);
    if (portion.length < keysAtOnce) continue;
    yield `[${portion.join()}]`;
    portion = [];
  }
  if (portion.length > 0) yield `[${portion.join()}]`;
}

/** Of those with these keys, as far as they are there. */
export const sumNamed = (
  sides: Sides,
  table: MovedTable,
  { tenantId, keys, except }: NamedRows,
): Promise<RowSums> =>
  both(sides, async (client) => {
    const { name } = table;
    let sum = nothing;
    for (const portion of portionsOf(keys.get(name) ?? new Set(), except?.get(name))) {
      const rest = `jsonb_array_elements($2::jsonb) as named(key)
        join ${tableSql(table)} as row_text on ${keyTerm(table)} where tenant_id = $1`;
      sum = plus(sum, await readSum(client, rest, [tenantId, portion]));
    }
    return sum;
  });

/** Without those that are among them. */
export const withoutSums = (all: RowSums, some: RowSums): RowSums => ({
  source: minus(all.source, some.source),
  target: minus(all.target, some.target),
});

const toText = ({ count, checksum }: RowSum): string => `${count} rows, checksum ${checksum}`;

/** The rows of source and target differ: the move does not go on. */
export class RowsDifferError extends MoveError {
  constructor(differences: readonly RowDifference[]) {
    const shown = differences.map(
      ({ table, source, target }) => `${table} has ${source} here and ${target} there`,
    );
    super(`The copy is not what it is made from: ${shown.join('; ')}.`);
  }
}

/** Throws where source and target differ in any of these tables. */
export function requireSame(sums: ReadonlyMap<MovedTable, RowSums>): void {
  const differences: RowDifference[] = [];
  for (const [{ name }, { source, target }] of sums) {
    if (source.count === target.count && source.checksum === target.checksum) continue;
    differences.push({ table: name, source: toText(source), target: toText(target) });
  }
  if (differences.length > 0) throw new RowsDifferError(differences);
}
