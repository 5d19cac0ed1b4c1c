import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'chai';
import pg from 'pg';
import { fillExports, ids } from '../../support/billing/exported-rows.js';
import { readExport } from '../../support/billing/exports.js';
import { fillTenant } from '../../support/servers/fill.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** Files are read back by DuckDB, which has nothing in common with what writes them. */
describe('exports as Parquet', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const large = useTenant(instance);
  const empty = useTenant(instance);
  let folder: string;
  before(async function () {
    this.timeout(120_000);
    folder = await mkdtemp(join(tmpdir(), 'durabill-parquet-'));
    const db = new pg.Client({ connectionString: instance.databaseUrl });
    await db.connect();
    await fillExports(db, tenant.id);
    await fillTenant(db, { tenantId: large.id, accounts: 10, events: 60_000, services: 2 });
    await db.query('analyze rated_transaction');
    await db.end();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function query(of: typeof tenant, kind: string, sql: string): Promise<unknown[]> {
    const { bytes, type } = await readExport(instance, of, `${kind}?format=parquet`);
    expect(type).to.equal('application/vnd.apache.parquet');
    const path = join(folder, `${kind}.parquet`);
    await writeFile(path, bytes);
    const duck = await DuckDBInstance.create(':memory:');
    const connection = await duck.connect();
    try {
      const reader = await connection.runAndReadAll(sql.replace('$FILE', `'${path}'`));
      return reader.getRowObjectsJson();
    } finally {
      connection.closeSync();
      duck.closeSync();
    }
  }

  // spec/beyond.md R24
  it('have typed columns, and decimals as text with all digits', async () => {
    const rows = await query(
      tenant,
      'rated-transactions',
      `select id, "externalTranId", "transactionDate", "serviceInstanceId", amount, quantity,
         epoch_us("ratedAt") as micros, typeof("ratedAt") as instant from $FILE order by id limit 1`,
    );
    expect(rows).to.deep.equal([
      {
        id: ids.charge(1),
        externalTranId: 'txn "1" 100%',
        transactionDate: '2026-03-01',
        serviceInstanceId: null,
        amount: '12345678901234567890.123456789',
        quantity: '0.00000000000000000001',
        // 2026-03-02T00:00:00Z is 1772409600 s.
        micros: '1772409600123456',
        instant: 'TIMESTAMP WITH TIME ZONE',
      },
    ]);
    const events = await query(
      tenant,
      'usage-events',
      'select "offset", status, code, message from $FILE order by "offset"',
    );
    expect(events).to.deep.equal([
      { offset: '1', status: 'rated', code: null, message: '{ "a":\n1.10 }' },
      { offset: '2', status: 'rejected', code: 'INVALID_MESSAGE', message: 'no JSON' },
    ]);
    const payments = await query(
      tenant,
      'payments',
      'select amount, "isManualPayment", "glPaymentDate" from $FILE order by id',
    );
    expect(payments).to.deep.equal([
      { amount: '100.5', isManualPayment: true, glPaymentDate: null },
      { amount: '7', isManualPayment: true, glPaymentDate: null },
    ]);
    const audit = await query(tenant, 'audit', `select after->>'name' as name from $FILE limit 1`);
    expect(audit).to.deep.equal([{ name: 'Account 1' }]);
  });

  // 60,000 x 1.25 = 75,000.
  it('of several row groups are one file', async function () {
    this.timeout(120_000);
    const rows = await query(
      large,
      'rated-transactions',
      `select count(*) as rows, count(distinct id) as ids,
         sum(cast(amount as decimal(38,10)))::varchar as amount from $FILE`,
    );
    expect(rows).to.deep.equal([{ rows: '60000', ids: '60000', amount: '75000.0000000000' }]);
  });

  it('of nothing are a file without rows', async () => {
    const rows = await query(empty, 'payments', 'select count(*) as rows from $FILE');
    expect(rows).to.deep.equal([{ rows: '0' }]);
  });
});
