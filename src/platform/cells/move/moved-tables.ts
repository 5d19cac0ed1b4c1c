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

/** A table whose rows go with their tenant. */
export interface MovedTable {
  readonly name: string;
  /**
   * SQL for whether a row of the tenant `$1` has come after the moment of an id, which is a parameter: all
   * others are compared before the tenant pauses. null: the table has few rows, or they change, so that
   * all are compared within the pause.
   */
  readonly newRowSql: NewRowSql | null;
}

type NewRowSql = (id: string) => string;

/** The time that an id begins with. */
const momentOf: NewRowSql = (id) =>
  `to_timestamp(('x' || translate(left(${id}::text, 13), '-', ''))::bit(48)::bigint / 1000.0)`;
const never: NewRowSql = (id) => `${id}::uuid is null`;

/**
 * Of tables without ids that grow with time, those that get a row for each event or change. What is
 * made from facts has no new rows: the audit compares it with them, and it can be made again.
 */
const newRowsSql: Readonly<Record<string, NewRowSql>> = {
  audit: (id) => `at > ${momentOf(id)}`,
  audit_seal: (id) =>
    `audit_id in (select id from audit where tenant_id = $1 and at > ${momentOf(id)})`,
  rated_dimension: (id) => `transaction_id > ${id}::uuid`,
  usage_combination: never,
  usage_combination_part: never,
  usage_identity: (id) => `external_id in (select external_transaction_id from usage_event
    where tenant_id = $1 and id > ${id}::uuid and external_transaction_id is not null)`,
  usage_list: never,
  usage_message: (id) => `received_at > ${momentOf(id)}`,
  usage_search: never,
  usage_total: never,
  wallet_entry: (id) => `at > ${momentOf(id)}`,
  webhook_attempt: (id) => `started_at > ${momentOf(id)}`,
};
const byId: NewRowSql = (id) => `id > ${id}::uuid`;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A table's name in a statement. */
export const tableSql = ({ name }: MovedTable): string => `public.${quoted(name)}`;

export async function listMovedTables(client: pg.Client): Promise<MovedTable[]> {
  const { rows } = await client.query<{ name: string; hasTimedIds: boolean }>(
    `select tables.relname as name, exists (
       select from pg_attribute join pg_index on indrelid = attrelid
       where attrelid = tables.oid and attname = 'id' and atttypid = 'uuid'::regtype
         and indisprimary and attnum = any(indkey::int2[])
     ) as "hasTimedIds"
     from pg_class as tables
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname <> all ($1::text[])
       and exists (select from pg_attribute
         where attrelid = tables.oid and attname = 'tenant_id' and not attisdropped)
     order by relname`,
    [platformTables],
  );
  return rows.map(({ name, hasTimedIds }) => ({
    name,
    newRowSql: newRowsSql[name] ?? (hasTimedIds ? byId : null),
  }));
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
