import type { Knex } from 'knex';
import pg from 'pg';
import { sqlRows } from '../../../src/models/db/sql-rows.js';

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
 * How often tenants have asked, how far the audit is sealed, usage added up and old data removed by now,
 * and ends were looked for.
 */
const besides = new Set([
  'rate_limit',
  'audit_seal',
  'audit_sealing',
  'execution_watch',
  'journal_entry',
  'usage_change',
  'usage_delta',
  'usage_list',
  'usage_total',
  'usage_unlisted',
  'retention_state',
  'workflow_event',
  'workflow_start',
  'workflow_wait',
]);

/** What is stored, as a count and a checksum for each table. */
export type Snapshot = Readonly<Record<string, string>>;

/** Over one connection: each new one reads the descriptions of all tables, which takes longer. */
export interface Photographer {
  take(): Promise<Snapshot>;
  close(): Promise<void>;
}

/**
 * Takes snapshots: equal before and after means that nothing changed. With a tenant, only of its
 * rows. What happens behind the changes is never part of it.
 */
export async function openPhotographer(
  databaseUrl: string,
  tenantId?: string,
): Promise<Photographer> {
  // To start processes that help with tables this small takes longer than to read them.
  const options = '-c max_parallel_workers_per_gather=0';
  const client = new pg.Client({ connectionString: databaseUrl, options });
  await client.connect();
  const tables = (await listTables(client)).filter(
    ({ name, hasTenant }) => !besides.has(name) && (hasTenant || tenantId === undefined),
  );
  const states = tables.map(
    ({ name }) => `
      select '${name}' as name, count(*) || ' ' ||
        coalesce(md5(string_agg(t::text, ' ' order by t::text)), '') as state
      from ${name} as t ${tenantId === undefined ? '' : 'where tenant_id = $1'}`,
  );
  return {
    async take() {
      // By a name, so that it is planned once.
      const { rows } = await client.query<{ name: string; state: string }>({
        name: 'snapshot',
        text: states.join(' union all '),
        values: tenantId === undefined ? [] : [tenantId],
      });
      return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
    },
    close: () => client.end(),
  };
}

/**
 * How many rows of a table, or of its parts, the connection of a transaction has read so far: what those
 * before it have read may be among them.
 */
export async function rowsRead(trx: Knex.Transaction, table: string): Promise<number> {
  const [row] = await sqlRows<{ read: string }>(
    trx,
    `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) as read
     from pg_stat_xact_user_tables
     where relid in (select relid from pg_partition_tree(:table) union select :table::regclass)`,
    { table },
  );
  return Number(row?.read);
}
