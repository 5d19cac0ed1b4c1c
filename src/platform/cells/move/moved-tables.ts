import type pg from 'pg';

/** What the home database has of tenants whatever cell they are in, and what is about moves. */
const platformTables = [
  'access_key',
  'access_key_use',
  'oauth_code',
  'oauth_grant',
  'oauth_refresh_token',
  'relayed_event',
  'tenant_cell',
  'tenant_fence',
  'tenant_move',
  'token_revocation',
];

/** A column of a key with its type in SQL. */
interface KeyColumn {
  readonly name: string;
  readonly type: string;
}

/** A table whose rows go with their tenant. */
export interface MovedTable {
  readonly name: string;
  /** What tells its rows of a tenant apart. */
  readonly key: readonly KeyColumn[];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A table's name in a statement. */
export const tableSql = ({ name }: MovedTable): string => `public.${quoted(name)}`;

/** The columns of the primary key, and others. */
export const keySql = ({ key }: MovedTable, more: readonly string[] = []): string =>
  ['tenant_id', ...key.map(({ name }) => name), ...more].map(quoted).join(', ');

/** That a row of the table, as `row_text`, has the key which `named.key` lists. */
export const keyTerm = ({ key }: MovedTable): string =>
  key
    .map(({ name, type }, at) => `row_text.${quoted(name)} = (named.key->>${at})::${type}`)
    .join(' and ') || 'true';

export async function listMovedTables(client: pg.Client): Promise<MovedTable[]> {
  const { rows } = await client.query<MovedTable>(
    `select tables.relname as name, coalesce((
       select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, null)))
       from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey::int2[])
       where indrelid = tables.oid and indisprimary and attname <> 'tenant_id'), '[]') as key
     from pg_class as tables
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname <> all ($1::text[])
       and exists (select from pg_attribute
         where attrelid = tables.oid and attname = 'tenant_id' and not attisdropped)
     order by relname`,
    [platformTables],
  );
  return rows;
}

/** Where the numbers stand that a database has given to rows of tenants, by sequence. */
export async function readSequences(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select sequence.relname as name,
       coalesce(pg_sequence_last_value(sequence.oid), 0)::text as value
     from pg_class as sequence
       join pg_depend on objid = sequence.oid and deptype in ('a', 'i')
         and classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass
       join pg_attribute on attrelid = refobjid and attname = 'tenant_id'
     where sequence.relkind = 'S' and sequence.relnamespace = 'public'::regnamespace`,
  );
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/**
 * Lets a database give only numbers above those that come from another one, and `ahead` more that
 * will come: the sealer of the audit passes over what is below its mark.
 */
export async function raiseSequences(
  client: pg.Client,
  values: ReadonlyMap<string, string>,
  ahead = 0,
): Promise<void> {
  const own = await readSequences(client);
  for (const [name, value] of values) {
    const least = BigInt(value) + BigInt(ahead);
    if (least <= BigInt(own.get(name) ?? '0')) continue;
    await client.query('select setval(($1::text)::regclass, $2::bigint)', [
      `public.${quoted(name)}`,
      least.toString(),
    ]);
  }
}
