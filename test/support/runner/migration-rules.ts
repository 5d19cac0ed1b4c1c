/**
 * What a new migration must keep to, so that it can run while the product serves (CONTRIBUTING, "A
 * migration"). Tables that the same migration makes are nobody's yet: for them nothing is forbidden.
 */

/** Tables of a few rows for an installation or a tenant, which an index locks for milliseconds. */
const smallTables = [
  'access_key',
  'country',
  'currency',
  'mcp_client',
  'picklist_value',
  'seller',
  'signing_key',
  'tax_rate',
  'tenant',
  'webhook_secret',
  'service_layout',
  'usage_consumer',
];

/** Statements that the version before may not survive, and those that read a whole table under a lock. */
const contractions: readonly (readonly [RegExp, string])[] = [
  [/^drop table (?:if exists )?(\w+)/, 'removes a table'],
  [/^alter table (?:only )?(\w+).*\bdrop column\b/, 'removes a column'],
  [/^alter table (?:only )?(\w+).*\brename\b/, 'renames'],
  [/^alter table (?:only )?(\w+).*\balter column \w+ (?:set data )?type\b/, 'rewrites a table'],
  [/^alter table (?:only )?(\w+).*\bset not null\b/, 'reads a whole table under a lock'],
  [
    /^alter table (?:only )?(\w+).*\badd column (?:(?!\bdefault\b|,).)*\bnot null\b(?!(?:(?!,).)*\bdefault\b)/,
    'adds a column that the version before does not fill',
  ],
  [
    /^alter table (?:only )?(\w+).*\badd constraint \w+ (?:check|foreign key)(?!.*\bnot valid\b)/,
    'reads a whole table under a lock: add it as not valid, and validate it in a later migration',
  ],
  [
    /^alter table (?:only )?(\w+).*\badd constraint \w+ (?:unique|primary key) (?!using index)/,
    'makes an index under a lock: make it concurrently, then add the constraint using index',
  ],
];

/** Tables in partitions, on which nothing is made concurrently; before this migration they were whole. */
const dividedTables = ['usage_event', 'rated_transaction'];
const dividedBy = '20261209090300';

const index =
  /^create (?:unique )?index (concurrently )?(?:if not exists )?(\w+) on (?:only )?(\w+)/;

/** Statements of SQL in the text, without comments, in small letters, each on one line. */
function statementsOf(text: string): string[] {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/(?:--|\/\/)[^\n]*/g, ' ')
    .split(/[;`'"]/)
    .map((statement) => statement.replace(/\s+/g, ' ').trim().toLowerCase())
    .filter((statement) => statement !== '');
}

/** Everything but `down`, which may remove what `up` has made. */
function upOf(text: string): string {
  const down = /export (?:async )?(?:function|const) down\b/.exec(text)?.index ?? text.length;
  const up = /export (?:async )?(?:function|const) up\b/.exec(text)?.index ?? 0;
  return down < up ? text.slice(0, down) + text.slice(up) : text.slice(0, down);
}

/** The whole gets its index when each partition has one, which was made concurrently. */
function faultsOfDivided(name: string, table: string, isConcurrent: boolean, up: string): string[] {
  const how = `on each of pg_partition_tree('${table}') concurrently, then on the whole`;
  if (isConcurrent) return [`${name}: ${table} is in partitions, make it ${how}`];
  const isOnEach =
    up.includes(`pg_partition_tree('${table}')`) &&
    /create (?:unique )?index concurrently \S*\$\{/.test(up);
  return isOnEach ? [] : [`${name}: first make it ${how}`];
}

function faultsOfIndexes(
  statements: readonly string[],
  { made, up, isDivided }: { made: readonly string[]; up: string; isDivided: boolean },
): string[] {
  return statements.flatMap((statement, position) => {
    const [, concurrently, name, table] = index.exec(statement) ?? [];
    if (name === undefined || table === undefined || made.includes(table)) return [];
    if (isDivided && dividedTables.includes(table)) {
      return faultsOfDivided(name, table, concurrently !== undefined, up);
    }
    if (concurrently === undefined) {
      return smallTables.includes(table) ? [] : [`${name}: ${table} is large, use concurrently`];
    }
    // What is interrupted leaves an index that serves nothing, and the migration is run again.
    const drop = `drop index concurrently if exists ${name}`;
    return statements.slice(0, position).includes(drop) ? [] : [`${name}: first ${drop}`];
  });
}

/** Outside of a transaction nothing may stand that could be half done. */
function faultsOfTransaction(text: string, statements: readonly string[]): string[] {
  const without = /export const config = \{ transaction: false \}/.test(text);
  const concurrent = statements.filter((statement) =>
    /^\w+ (?:unique )?index concurrently/.test(statement),
  );
  if (concurrent.length > 0 && !without) {
    return ['concurrently needs export const config = { transaction: false }'];
  }
  if (!without) return [];
  const others = statements.filter(
    (statement) =>
      /^(?:create|alter|drop|insert|update|delete|do|grant|revoke|truncate)\b/.test(statement) &&
      !concurrent.includes(statement) &&
      !dividedTables.includes(index.exec(statement)?.[3] ?? '') &&
      !dividedTables.some((table) => statement.startsWith(`drop index ${table}_`)),
  );
  return others.map((statement) => `outside of a transaction: ${statement.slice(0, 60)}`);
}

/** What is wrong with a migration, in sentences; nothing: it may land. */
export function faultsOfMigration(name: string, text: string): string[] {
  const up = upOf(text);
  const statements = statementsOf(up);
  const made = statements.flatMap(
    (statement) =>
      /^create (?:unlogged )?table (?:if not exists )?(\w+)/.exec(statement)?.[1] ?? [],
  );
  // `-- contract: why no version that still runs uses it.`
  const mayContract = /(?:--|\/\/|\*) contract: \S+ \S+/i.test(up);
  const removed = statements.flatMap((statement) =>
    contractions.flatMap(([pattern, fault]) => {
      const table = pattern.exec(statement)?.[1];
      return table === undefined || made.includes(table)
        ? []
        : [`${fault}: ${statement.slice(0, 60)}`];
    }),
  );
  return [
    ...(/^\d{14}(?:-[a-z0-9]+){2,}\.js$/.test(name)
      ? []
      : ['its name is not <timestamp>-<verb>-<noun>.js']),
    ...['up', 'down']
      .filter((way) => !new RegExp(`export (?:async )?(?:function|const) ${way}\\b`).test(text))
      .map((way) => `it exports no ${way}`),
    ...(/^import\b|\bimport\(|\brequire\(/m.test(text)
      ? ['it imports: what it needs stands in it']
      : []),
    ...faultsOfIndexes(statements, { made, up, isDivided: name > dividedBy }),
    ...faultsOfTransaction(text, statementsOf(text)),
    ...(mayContract ? [] : removed),
  ];
}
