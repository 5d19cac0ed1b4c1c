import { expect } from 'chai';
import type { Knex } from 'knex';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import {
  usageTotalsSql,
  type AskedTotals,
} from '../../src/queries/usage/totals/usage-total-sql.js';
import { createAccount, createService, usage, waitUntilRated } from '../support/billing/usage.js';
import type { TestTenant } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
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

/** How many rows of what charges were priced by this transaction has read so far. */
async function plansRead(trx: Knex.Transaction): Promise<number> {
  const [row] = await sqlRows<{ read: string }>(
    trx,
    `select coalesce(idx_tup_fetch, 0) + seq_tup_read as read
     from pg_stat_xact_user_tables where relname = 'rating_plan_row'`,
    {},
  );
  return Number(row?.read);
}

/** Statistics of a large database learn of a new tenant when its tables have grown by a tenth. */
describe('a tenant that the statistics of the database do not know', function () {
  this.timeout(60_000);
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
    groups: [{ name: 'account' }],
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
      const before = await plansRead(trx);
      const rows = await sqlRows<{ events: string }>(trx, sql, { ...bindings, tenantId });
      expect(rows.map(({ events }) => events)).to.deep.equal([String(count)]);
      return (await plansRead(trx)) - before;
    });
    expect(read).to.be.within(1, 2 * count);
  });
});
