import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asOwner } from './rows.js';

const migrations = fileURLToPath(new URL('../../../migrations/', import.meta.url));
/** A file for each function of the database, as the last migration has left it. */
export const functionsFolder = `${migrations}functions/`;

interface DatabaseFunction {
  readonly name: string;
  readonly body: string;
  readonly triggers: readonly string[];
}

/** Functions of ours with the triggers that call them; of a partitioned table those of the whole. */
const functionsSql = `
  select f.proname as name, pg_get_functiondef(f.oid) as body,
    array(select pg_get_triggerdef(t.oid) from pg_trigger t
      where t.tgfoid = f.oid and not t.tgisinternal and t.tgparentid = 0
      order by t.tgrelid::regclass::text, t.tgname) as triggers
  from pg_proc f
  where f.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
  order by f.proname, pg_get_function_identity_arguments(f.oid)`;

/** The migrations that make a function, or make it anew, oldest first; some make several by one text. */
function migrationsOf(name: string, texts: ReadonlyMap<string, string>): string[] {
  const made = new RegExp(`create (or replace )?function (public\\.)?${name}\\s*\\(`, 'i');
  const named = new RegExp(`\\b${name}\\b`);
  const isMaker = (text: string): boolean =>
    made.test(text) || (/create (or replace )?function \$\{/i.test(text) && named.test(text));
  const files = [...texts].filter(([, text]) => isMaker(text)).map(([file]) => file);
  if (files.length === 0) throw new Error(`No migration makes the function ${name}`);
  return files;
}

/** The text of each file of `migrations/functions`, by its name, as the database has them. */
export async function readFunctions(databaseUrl: string): Promise<Map<string, string>> {
  const rows = await asOwner(databaseUrl, async (client) => {
    return (await client.query<DatabaseFunction>(functionsSql)).rows;
  });
  const files = readdirSync(migrations).filter((file) => file.endsWith('.js'));
  const texts = new Map(
    files.sort().map((file) => [file, readFileSync(`${migrations}${file}`, 'utf8')]),
  );
  const found = new Map<string, string>();
  for (const { name, body, triggers } of rows) {
    const head = [
      '-- As the migrations have left it; nothing reads this file (npm run record-functions).',
      ...migrationsOf(name, texts).map((file) => `-- migrations/${file}`),
    ];
    const known = found.get(`${name}.sql`) ?? `${head.join('\n')}\n`;
    const statements = [body.trimEnd(), ...triggers].map((statement) => `\n${statement};\n`);
    found.set(`${name}.sql`, `${known}${statements.join('')}`);
  }
  return found;
}
