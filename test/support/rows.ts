import pg from 'pg';

/** Runs the work as the owner of the database, whom row-level security does not bind. */
export async function asOwner<T>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

interface Table {
  readonly name: string;
  readonly hasTenant: boolean;
}

/** Every table of ours; of a partitioned one the whole, not its parts. */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.relname as name,
      exists (select 1 from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'tenant_id') as "hasTenant"
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition
    order by c.relname`);
  return rows;
}

/**
 * What is stored, as a count and a checksum for each table: equal before and after means that
 * nothing changed. With a tenant, only its rows; `except` leaves tables out. How often tenants have
 * asked is never part of it.
 */
export async function snapshot(
  databaseUrl: string,
  { tenantId, except = [] }: { tenantId?: string; except?: readonly string[] } = {},
): Promise<Record<string, string>> {
  return asOwner(databaseUrl, async (client) => {
    const tables = (await listTables(client)).filter(
      ({ name, hasTenant }) =>
        name !== 'rate_limit' && !except.includes(name) && (hasTenant || tenantId === undefined),
    );
    const state: Record<string, string> = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ state: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ' ' order by t::text)), '')
           as state from ${name} t ${tenantId === undefined ? '' : 'where tenant_id = $1'}`,
        tenantId === undefined ? [] : [tenantId],
      );
      state[name] = rows[0]?.state ?? '';
    }
    return state;
  });
}
