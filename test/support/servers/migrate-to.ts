import { fileURLToPath } from 'node:url';
import knex, { type Knex } from 'knex';

/** Does one migration after the other, up or down, until the named one is the last. */
export async function migrateTo(
  databaseUrl: string,
  name: string,
  way: 'up' | 'down',
): Promise<void> {
  const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 2 } });
  const config: Knex.MigratorConfig = {
    directory: fileURLToPath(new URL('../../../migrations', import.meta.url)),
    loadExtensions: ['.js'],
  };
  const last = async (): Promise<string> => {
    const [done] = (await db.migrate.list(config)) as [{ name: string }[]];
    return done.at(-1)?.name ?? '';
  };
  try {
    while ((await last().catch(() => '')) !== name) await db.migrate[way](config);
  } finally {
    await db.destroy();
  }
}
