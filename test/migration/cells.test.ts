import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { runDurabill } from '../support/servers/command-line.js';
import { createEmptyDatabase, createTestDatabase } from '../support/servers/servers.js';
import { asOwner } from '../support/servers/rows.js';

const key = randomBytes(32).toString('base64');
/** An address where nothing listens. */
const nowhere = 'postgres://u:p@127.0.0.1:1/none';

/** spec/platform.md R121, R124 to R126. */
describe('durabill migrate with cells', function () {
  this.timeout(240_000);
  let home = '';
  let eu1 = '';
  let eu2 = '';
  const run = (cells: string, ...words: string[]) =>
    runDurabill({ DATABASE_URL: home, SECRET_KEY: key, CELLS: cells }, ...words);
  const both = () => `eu1=${eu1},eu2=${eu2}`;
  const countOf = (databaseUrl: string) =>
    asOwner(databaseUrl, async (client) => {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::int as count from knex_migrations',
      );
      return rows[0]?.count ?? 0;
    });

  before(async () => {
    home = await createTestDatabase();
    eu1 = await createEmptyDatabase();
    eu2 = await createEmptyDatabase();
  });

  it('lists what a cell lacks, brings all to this version, and back by one', async () => {
    const before = await run(both(), 'migrate', '--check');
    expect(before.code).to.equal(1);
    expect(before.output).to.include('eu1: 20261121100000-create-platform.js\n');
    expect(before.output).to.include('eu2: 20261121100000-create-platform.js\n');
    expect((await run(both(), 'migrate')).code).to.equal(0);
    expect(await run(both(), 'migrate', '--check')).to.include({ code: 0, output: 'up to date\n' });
    const all = await countOf(home);
    const back = await run(both(), 'migrate', '--rollback');
    expect(back.code, back.errors).to.equal(0);
    const counts = await Promise.all([home, eu1, eu2].map(countOf));
    expect(counts).to.deep.equal([all - 1, all - 1, all - 1]);
    expect((await run(both(), 'migrate')).code).to.equal(0);
    expect(await Promise.all([home, eu1, eu2].map(countOf))).to.deep.equal([all, all, all]);
  });

  it('refuses addresses that were exchanged, and a cell that is the home database', async () => {
    const exchanged = await run(`eu1=${eu2},eu2=${eu1}`, 'migrate');
    expect(exchanged.code).to.equal(1);
    expect(exchanged.errors).to.include(
      "The database at the address of 'eu1' is the cell 'eu2': mend the address of eu1 in CELLS.",
    );
    const same = await run(`eu1=${home}`, 'migrate');
    expect(same.errors).to.include("The database at the address of 'eu1' is the cell 'home'");
  });

  it('migrates the others where one does not answer, names it and ends with 1', async () => {
    const { code, errors } = await run(`eu1=${eu1},eu9=${nowhere}`, 'migrate');
    expect(code).to.equal(1);
    expect(errors).to.match(/the cell 'eu9' does not answer \(.*ECONNREFUSED.*\): run this again/);
  });

  it('refuses a cell of a newer version', async () => {
    const newer = '20990101000000-of-tomorrow.js';
    const change = (sql: string) => asOwner(eu2, (client) => client.query(sql, [newer]));
    await change('insert into knex_migrations (name, batch, migration_time) values ($1, 9, now())');
    const { code, errors } = await run(both(), 'migrate');
    expect(code).to.equal(1);
    expect(errors).to.include(
      `The cell 'eu2' is ahead. The database was migrated by a newer version of Durabill (${newer})`,
    );
    await change('delete from knex_migrations where name = $1');
  });

  it('lists cells, and drains one until it is added again', async () => {
    const drained = await run(both(), 'cell', 'drain', 'eu2');
    expect(drained.code, drained.errors).to.equal(0);
    const refused = await run(both(), 'tenant', 'create', 'late', '--cell', 'eu2');
    expect(refused.code).to.equal(1);
    expect(refused.errors).to.match(
      /The cell 'eu2' is drained since .*'durabill cell add eu2' opens/,
    );
    const { output } = await run(`${both()},eu9=${nowhere}`, 'cell', 'list');
    expect(output).to.include('home\t0 tenants\tanswers\n');
    expect(output).to.include('eu1\t0 tenants\tanswers\n');
    expect(output).to.match(/^eu2\t0 tenants\tanswers\tdrained since /m);
    expect(output).to.match(/^eu9\t0 tenants\tcannot be used: .*ECONNREFUSED/m);
    expect((await run(both(), 'cell', 'add', 'eu2')).code).to.equal(0);
    const made = await run(both(), 'tenant', 'create', 'late', '--cell', 'eu2');
    expect(made.code, made.errors).to.equal(0);
    const unknown = await run(both(), 'cell', 'add', 'eu7');
    expect(unknown.errors).to.include("'eu7' is no cell of CELLS; there are: home, eu1, eu2.");
  });

  it('lets tenants be made in a cell, and refuses to forget it', async () => {
    const made = await run(both(), 'tenant', 'create', 'acme', '--cell', 'eu1');
    expect(made.code, made.errors).to.equal(0);
    const listed = await run(both(), 'tenant', 'list');
    expect(listed.output).to.include('acme\tacme\tstandard\tcell eu1\n');
    const other = await run(both(), 'tenant', 'create', 'other', '--cell', 'eu7');
    expect(other.code).to.equal(1);
    expect(other.errors).to.include("'eu7' is no cell of CELLS; there are: home, eu1, eu2.");
    const forgotten = await run(`eu2=${eu2}`, 'migrate');
    expect(forgotten.code).to.equal(1);
    expect(forgotten.errors).to.include(
      "1 tenants are in the cell 'eu1', which CELLS does not name: add eu1=postgres://… to CELLS.",
    );
    const seller = await run(both(), 'tenant', 'seller', 'acme', '--name', 'Acme', '--city', 'Ulm');
    expect(seller.output, seller.errors).to.include('city\tUlm\n');
    const sellers = (url: string) =>
      asOwner(url, (client) => client.query('select from seller')).then(({ rowCount }) => rowCount);
    expect(await Promise.all([sellers(home), sellers(eu1)])).to.deep.equal([0, 1]);
  });
});
