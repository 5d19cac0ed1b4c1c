import pg from 'pg';
import { compareCopy, type Copy } from './compare-copy.js';
import { prepareComparison, RowsDifferError } from './compare-rows.js';
import { listMovedTables, raiseSequences, readSequences } from './moved-tables.js';
import { removeRows } from './remove-rows.js';
import {
  endOthers,
  forgetChanges,
  LagError,
  moveName,
  publish,
  requirePublished,
  readProgress,
  subscribe,
  takeTurn,
  unpublish,
  unsubscribe,
  type CopyProgress,
} from './replication.js';
import { findFence, lowerFence, setFence } from './tenant-fence.js';

/** Between what and where a tenant is moved, with the addresses of the owners of the tables. */
export interface MovePlace {
  readonly tenantId: string;
  readonly sourceUrl: string;
  readonly targetUrl: string;
}

/** How long a new connection is waited for. */
const connectMs = 10_000;

/** Numbers of rows that a tenant may be given while it is copied. */
const numbersMax = 10_000_000;

/** Works with connections that have the name of the move, and end with it. */
async function connected<T>(
  tenantId: string,
  urls: readonly string[],
  work: (...clients: pg.Client[]) => Promise<T>,
): Promise<T> {
  const clients = urls.map(
    (url) =>
      new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: connectMs,
      }),
  );
  try {
    for (const client of clients) {
      client.on('error', () => undefined);
      await client.connect();
      // After the address, which may name its connections itself.
      await client.query(`set application_name = ${moveName(tenantId)}`);
    }
    return await work(...clients);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** Works with a connection to either side. */
const withClients = <T>(
  { tenantId, sourceUrl, targetUrl }: MovePlace,
  work: (source: pg.Client, target: pg.Client) => Promise<T>,
): Promise<T> =>
  connected(tenantId, [sourceUrl, targetUrl], (...clients) =>
    work(...(clients as [pg.Client, pg.Client])),
  );

/**
 * Works with what is compared, while no other attempt does. Others are waited for, or ended where none of them
 * can flip the directory any more.
 */
export const withCopy = <T>(
  { tenantId, sourceUrl, targetUrl }: MovePlace,
  others: 'end' | 'await',
  work: (copy: Copy) => Promise<T>,
): Promise<T> =>
  connected(tenantId, [sourceUrl, targetUrl, sourceUrl], async (...clients) => {
    const [source, target, recorder] = clients as [pg.Client, pg.Client, pg.Client];
    await Promise.all(clients.map(prepareComparison));
    if (others === 'end') await endOthers([source, recorder], tenantId);
    await takeTurn(source, tenantId);
    await requirePublished(source, tenantId);
    const tables = await listMovedTables(source);
    return work({ source, target, recorder, sourceUrl, tenantId, tables });
  });

/** What keeps a tenant from being moved; undefined: nothing. Each line says what mends it. */
export function findObstacle(place: MovePlace): Promise<string | undefined> {
  return withClients(place, async (source, target) => {
    const levels = await source.query<{ wal_level: string }>('show wal_level');
    if (levels.rows[0]?.wal_level !== 'logical') {
      return "The server that the tenant leaves has no logical replication: set wal_level = 'logical' there, and restart it.";
    }
    for (const [what, client] of [
      ['leaves', source],
      ['moves to', target],
    ] as const) {
      const { rows } = await client.query<{ may: boolean }>(
        'select rolsuper as may from pg_roles where rolname = current_user',
      );
      if (rows[0]?.may !== true) {
        return `The owner's login of the server that the tenant ${what} is no superuser: replication writes beside row-level security. Name one in DATABASE_OWNER_URL or CELL_OWNERS.`;
      }
    }
    const names = async (client: pg.Client): Promise<string> =>
      (await client.query<{ name: string }>('select name from knex_migrations order by name')).rows
        .map(({ name }) => name)
        .join();
    if ((await names(source)) !== (await names(target))) {
      return "The two cells have different migrations: run 'durabill migrate'.";
    }
    const { tenantId } = place;
    const { rows } = await target.query('select 1 from audit where tenant_id = $1 limit 1', [
      tenantId,
    ]);
    if (rows.length === 0 || (await findFence(target, tenantId)) !== undefined) return undefined;
    return `The cell that '${tenantId}' moves to has the audit of an earlier tenant of this name, which is kept.`;
  });
}

/** Gives the target the tenant's own row. */
type CopyTenant = (source: pg.Client, target: pg.Client, tenantId: string) => Promise<void>;

/** Removes the tenant's own row, where a database is not the home database. */
type RemoveTenant = (client: pg.Client, tenantId: string) => Promise<void>;

/** Makes the place for a tenant's rows in the target, and begins to copy them. */
export function beginCopy(place: MovePlace, copyTenant: CopyTenant): Promise<void> {
  const { tenantId, sourceUrl } = place;
  return withClients(place, async (source, target) => {
    const tables = await listMovedTables(source);
    await setFence(target, tenantId, 'arriving');
    await copyTenant(source, target, tenantId);
    if (!(await isCopying(target, tenantId))) {
      // What an earlier move that was taken back, or one from here, has left.
      await forgetChanges(source, tenantId);
      await removeRows(target, tenantId, tables);
      await raiseSequences(target, await readSequences(source), numbersMax);
    }
    await publish(source, tenantId, tables);
    await subscribe(target, tenantId, sourceUrl);
  });
}

async function isCopying(target: pg.Client, tenantId: string): Promise<boolean> {
  const { tables } = await readProgress(target, target, tenantId);
  return tables > 0;
}

export const readCopy = (place: MovePlace): Promise<CopyProgress> =>
  withClients(place, (source, target) => readProgress(source, target, place.tenantId));

/** Compares what has been copied while the tenant is used; false: the copy lags. */
export async function isCopyTrue(place: MovePlace): Promise<boolean> {
  try {
    await withCopy(place, 'await', compareCopy);
    return true;
  } catch (error) {
    if (error instanceof LagError) return false;
    throw error;
  }
}

/** Ends the copying of a tenant that has moved, or whose move is taken back. */
export const endCopy = (place: MovePlace): Promise<void> =>
  withClients(place, async (source, target) => {
    const { tenantId } = place;
    await endOthers([source], tenantId);
    await takeTurn(source, tenantId);
    await unsubscribe(target, tenantId);
    await unpublish(source, tenantId);
  });

/** Takes back a move whose directory has not been flipped: the tenant is where it was, and nowhere else. */
export const takeBack = (place: MovePlace, removeTenant: RemoveTenant): Promise<void> =>
  withClients(place, async (source, target) => {
    const { tenantId } = place;
    // None of them can flip the directory any more.
    await endOthers([source], tenantId);
    await takeTurn(source, tenantId);
    await lowerFence(source, tenantId);
    await unsubscribe(target, tenantId);
    await unpublish(source, tenantId);
    await setFence(target, tenantId, 'moved');
    await removeRows(target, tenantId, await listMovedTables(target));
    await removeTenant(target, tenantId);
  });

/** What a tenant has for ever: the target never has less of it than what was left behind. */
const books = ['audit', 'invoice', 'payment', 'rated_transaction', 'usage_event'];

async function requireBooks(source: pg.Client, target: pg.Client, tenantId: string): Promise<void> {
  for (const name of books) {
    const sql = `select count(*)::text as count from ${name} where tenant_id = $1`;
    const [left = 0, there = 0] = await Promise.all(
      [source, target].map(async (client) => {
        const { rows } = await client.query<{ count: string }>(sql, [tenantId]);
        return Number(rows[0]?.count ?? 0);
      }),
    );
    if (left > there) {
      throw new RowsDifferError([{ table: name, source: String(left), target: String(there) }]);
    }
  }
}

/** Removes the rows that a tenant which has moved has left; the fence stays. */
export const removeOldRows = (
  place: MovePlace,
  removeTenant: RemoveTenant,
  onPortion: (removed: number) => void,
): Promise<number> =>
  withClients(place, async (source, target) => {
    const { tenantId } = place;
    if ((await findFence(source, tenantId)) !== 'moved') return 0;
    await requireBooks(source, target, tenantId);
    // A worker of an earlier version has ended the copying without it.
    await forgetChanges(source, tenantId);
    const removed = await removeRows(source, tenantId, await listMovedTables(source), onPortion);
    await removeTenant(source, tenantId);
    return removed;
  });
