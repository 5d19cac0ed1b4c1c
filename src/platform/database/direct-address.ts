import pg from 'pg';
import { StartupError } from '../startup-error.js';

/**
 * Throws where a pooler answers at the address of running processes and nobody says where PostgreSQL
 * itself is: notifications would be lost, and two migrations could run at once. A pooler is known
 * by its keys: PostgreSQL names a connection by the process that serves it.
 */
export async function requireSession(
  databaseUrl: string,
  what = 'DATABASE_URL',
  variable = 'DIRECT_DATABASE_URL',
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const { processID } = client as unknown as { readonly processID: number };
    if (rows[0]?.pid === processID) return;
  } finally {
    await client.end();
  }
  throw new StartupError(
    `${what} is the address of a connection pooler: set ${variable} to PostgreSQL itself, for ` +
      'notifications and migrations.',
  );
}
