import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { faultsOfMigration } from '../support/runner/migration-rules.js';

const directory = fileURLToPath(new URL('../../migrations/', import.meta.url));
/** The last one from before these rules; those that had landed are not edited. */
const lastBefore = '20261129100100-keep-starts-of-charged-lines.js';

const name = '20300101000000-change-things.js';
const migration = (up: string, config = '', down = 'select 1') => `${config}
export async function up(knex) { await knex.raw(\`${up}\`); }
export async function down(knex) { await knex.raw(\`${down}\`); }
`;
const outside = 'export const config = { transaction: false };';

/** As CONTRIBUTING has it. */
const indexOfParts = `${outside}
export async function up(knex) {
  const parts = \`select relid::regclass::text as part from pg_partition_tree('usage_event') where isleaf\`;
  for (const { part } of (await knex.raw(parts)).rows) {
    await knex.raw(\`drop index concurrently if exists \${part}_rated_at\`);
    await knex.raw(\`create index concurrently \${part}_rated_at on \${part} (rated_at)\`);
  }
  await knex.raw('create index if not exists usage_event_rated_at on usage_event (rated_at)');
}
export async function down(knex) {
  await knex.raw('drop index usage_event_rated_at');
}
`;

/** As [what, its text, a part of the fault; undefined where there is none]. */
const cases: readonly (readonly [string, string, string | undefined])[] = [
  [
    'a new table with its index',
    migration('create table t (a int); create index i on t (a);'),
    undefined,
  ],
  ['a new column', migration('alter table invoice add column note text;'), undefined],
  [
    'a new column with a default',
    migration(`alter table invoice add column n int not null default 0;`),
    undefined,
  ],
  [
    'a new column without a default',
    migration('alter table invoice add column n int not null;'),
    'does not fill',
  ],
  [
    'a column of two without a default',
    migration('alter table invoice add column m int default 0, add column n int not null;'),
    'does not fill',
  ],
  [
    'an index under a lock',
    migration('create unique index i on invoice (id);'),
    'invoice is large',
  ],
  ['an index of a small table', migration('create index i on tenant (id);'), undefined],
  [
    'a concurrent index in a transaction',
    migration('create index concurrently i on invoice (id)'),
    'transaction: false',
  ],
  [
    'a concurrent index that cannot be repeated',
    migration('create index concurrently i on invoice (id)', outside),
    'first drop index concurrently if exists i',
  ],
  [
    'a concurrent index',
    migration(
      'drop index concurrently if exists i; create index concurrently i on invoice (id)',
      outside,
    ),
    undefined,
  ],
  [
    'a concurrent index of a table in partitions',
    migration(
      'drop index concurrently if exists i; create index concurrently i on usage_event (id)',
      outside,
    ),
    `on each of pg_partition_tree('usage_event') concurrently`,
  ],
  [
    'an index of a table in partitions under a lock',
    migration('create index i on rated_transaction (id);'),
    'first make it on each',
  ],
  ['an index of partitions, then of the whole', indexOfParts, undefined],
  [
    'a change outside of a transaction',
    migration('alter table invoice add column note text', outside),
    'outside of a transaction',
  ],
  ['a removed column', migration('alter table invoice drop column note;'), 'removes a column'],
  [
    'a removed column, a release later',
    migration('-- contract: 0.3.0 reads it no more\nalter table invoice drop column note;'),
    undefined,
  ],
  [
    'a removed column on the way back',
    migration(
      'alter table invoice add column note text;',
      '',
      'alter table invoice drop column note;',
    ),
    undefined,
  ],
  ['a removed table', migration('drop table if exists invoice;'), 'removes a table'],
  ['a new name', migration('alter table invoice rename column note to remark;'), 'renames'],
  [
    'another type',
    migration('alter table invoice alter column note type varchar(9);'),
    'rewrites a table',
  ],
  [
    'a column that must be filled',
    migration('alter table invoice alter column note set not null;'),
    'whole table',
  ],
  [
    'a constraint on what is there',
    migration('alter table invoice add constraint c check (a > 0);'),
    'not valid',
  ],
  [
    'a constraint on what will come',
    migration('alter table invoice add constraint c check (a > 0) not valid;'),
    undefined,
  ],
  [
    'a unique constraint',
    migration('alter table invoice add constraint c unique (a);'),
    'using index',
  ],
  ['an import', `import { x } from '../src/x.js';\n${migration('select 1')}`, 'it imports'],
  ['no way back', 'export const up = (knex) => knex.raw(`select 1`);', 'exports no down'],
];

describe('rules of migrations', () => {
  for (const [what, text, fault] of cases) {
    it(`${fault === undefined ? 'allow' : 'refuse'} ${what}`, () => {
      const faults = faultsOfMigration(name, text);
      if (fault === undefined) expect(faults).to.deep.equal([]);
      else expect(faults.join('\n')).to.include(fault);
    });
  }

  it('refuse a name without a timestamp', () => {
    expect(faultsOfMigration('add-note.js', migration('select 1'))).to.have.length(1);
  });

  it('are kept by every migration since they hold', () => {
    const files = readdirSync(directory).filter((file) => file.endsWith('.js'));
    expect(files).to.include(lastBefore);
    const faults = files
      .filter((file) => file > lastBefore)
      .flatMap((file) =>
        faultsOfMigration(file, readFileSync(`${directory}${file}`, 'utf8')).map(
          (fault) => `${file}: ${fault}`,
        ),
      );
    expect(faults).to.deep.equal([]);
  });
});
