import { expect } from 'chai';
import { openParquetWriter } from '../../src/adapters/parquet/parquet-writer.js';
import type { Scope } from '../../src/kernel/scope.js';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { openExport } from '../../src/queries/exports/export.js';
import { listCorrectedCharges } from '../../src/queries/usage/corrections/corrected-charge.js';
import {
  usageTotalsSql,
  type AskedTotals,
} from '../../src/queries/usage/totals/usage-total-sql.js';
import { createAccount, createService, usage, waitUntilRated } from '../support/billing/usage.js';
import { external, type TestTenant } from '../support/servers/instance.js';
import { asOwner, rowsRead } from '../support/servers/rows.js';
import { useInstance } from '../support/servers/use-instance.js';

const count = 60;
const from = '2026-03-01T00:00:00Z';
const to = '2026-04-01T00:00:00Z';

async function sendUsage(tenant: TestTenant): Promise<void> {
  await createAccount(tenant, 'acme');
  const serviceId = await createService(tenant, 'Calls');
  const messages = Array.from({ length: count }, () => ({ message: usage('acme', serviceId) }));
  await tenant.post('/v1/ingest/usage/batch', messages).expect(200);
  await waitUntilRated(tenant, count);
}

/** Statistics of a large database learn of a new tenant when its tables have grown by a tenth. */
describe('a tenant that the statistics of the database do not know', function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });
  let tenant: TestTenant;

  before('send usage of a tenant that they know, and of one that they do not', async () => {
    await sendUsage(await instance.tenant());
    await asOwner(instance.databaseUrl, (client) => client.query('analyze'));
    tenant = await instance.tenant();
    await sendUsage(tenant);
  });

  const asked: AskedTotals = {
    bucket: 'month',
    groups: [{ name: 'attribute' }],
    filters: [],
    limit: 50,
    offset: 0,
    knownOn: new Date('2100-01-01T00:00:00Z'),
    embeddedAccountId: undefined,
  };

  // spec/beyond.md R212
  it('has what was known summed from its charges without comparing each with each', async () => {
    const { tenantId, db } = tenant.scope;
    const { sql, bindings } = usageTotalsSql(asked, [{ source: 'facts', from, to }]);
    const read = await db.transaction(async (trx) => {
      const before = await rowsRead(trx, 'rating_plan_row');
      const rows = await sqlRows<{ events: string }>(trx, sql, { ...bindings, tenantId });
      expect(rows.map(({ events }) => events)).to.deep.equal([String(count)]);
      return (await rowsRead(trx, 'rating_plan_row')) - before;
    });
    expect(read).to.be.within(1, 2 * count);
  });

  describe('that has corrected its usage', () => {
    let correctionId: string;
    before(async () => {
      const { data } = (await tenant.get(`${external}/services`).expect(200)).body;
      const [{ Id: serviceId }] = data.content;
      const rows = [
        { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY', unitRate: 0.02 },
      ];
      await tenant
        .post(`${external}/services/${serviceId}/rate-cards/USD/versions`, {
          currency: 'USD',
          fromDate: '2026-03-01',
          rows,
        })
        .expect(201);
      const { body } = await tenant
        .post('/v1/workflows/rerate-usage/execute', { data: { from, to, reason: 'Wrong price.' } })
        .expect(200);
      expect(body.output.changed).to.equal(count);
      correctionId = body.output.correctionId;
    });

    // spec/beyond.md R206 and R140
    const reads: readonly (readonly [string, (scope: Scope) => Promise<number>])[] = [
      [
        'listed',
        async (scope) => {
          const asked = { correctionId, isExplained: false };
          const page = { limit: 1000, offset: 0 };
          return (await listCorrectedCharges(scope, undefined, asked, page)).items.length;
        },
      ],
      [
        'exported',
        async (scope) => {
          const whole = { kind: 'corrections', format: 'ndjson' } as const;
          const means = {
            parquet: openParquetWriter(),
            inTurn: <T>(work: () => Promise<T>) => work(),
          };
          const lines: string[] = [];
          for await (const part of openExport(scope, whole, means).parts) {
            lines.push(...String(part).split('\n').filter(Boolean));
          }
          // The last line says that it is the last.
          return lines.length - 1;
        },
      ],
    ];
    for (const [how, list] of reads) {
      it(`has the charges of a correction ${how} by their ids`, async () => {
        const { scope } = tenant;
        const read = await scope.db.transaction(async (trx) => {
          const before = await rowsRead(trx, 'rated_transaction');
          expect(await list({ ...scope, db: { ...scope.db, read: trx } })).to.equal(count);
          return (await rowsRead(trx, 'rated_transaction')) - before;
        });
        // Of each the charge before, the one after, and one of both.
        expect(read).to.be.within(3 * count, 4 * count);
      });
    }
  });
});
