import { expect } from 'chai';
import { listAccounts } from '../../../src/queries/accounts/account.js';
import { listRatedTransactions } from '../../../src/queries/usage/rated-transaction.js';
import { listUsageEvents } from '../../../src/queries/usage/usage-event.js';
import type { Listed } from '../../../src/schemas/http/operation.js';
import { accountIdOf, fillTenant, serviceIdOf } from '../../support/servers/fill.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { explain, faultOf, record } from '../../support/servers/plans.js';
import { asOwner } from '../../support/servers/rows.js';

const accounts = 20_000;
const events = 40_000;
type List = (instance: TestInstance, tenant: TestTenant) => Promise<Listed<unknown>>;

const first = { limit: 20, offset: 0 };
const deep = { limit: 20, offset: accounts - 100 };

const accountList =
  (q?: string, page = first): List =>
  (_instance, { scope }) =>
    listAccounts(scope, page, q);
const transactionList =
  (filter: Parameters<typeof listRatedTransactions>[2], page = first): List =>
  (_instance, { scope }) =>
    listRatedTransactions(scope, page, filter);
const eventList =
  (filter: Parameters<typeof listUsageEvents>[2], page = first): List =>
  ({ platform }, { scope }) =>
    listUsageEvents(scope, platform.broker, filter, page);

const anAccount = { accountId: accountIdOf(10_000) };
/** October 5 to 14: 10 of 28 days. */
const dates = { fromDate: '2026-10-05', toDate: '2026-10-14' };
const times = { from: '2026-10-05T00:00:00.000Z', to: '2026-10-15T00:00:00.000Z' };

// One event each 28 * 86,400 / 40,000 = 60.48 s. The four days before October 5 have 345,600 / 60.48
// = 5,714.3 of them, so 5,715; the first fourteen have 20,000; between them are 14,285. The event i is
// of the account (i * 7,919) mod 20,000: 7,919 is prime, so each account has two, i and i + 20,000;
// the account 10,000 has the events 10,000, which is in those days, and 30,000.
const cases: readonly (readonly [string, number, List])[] = [
  ['accounts', accounts, accountList()],
  ['accounts, a deep page', accounts, accountList(undefined, deep)],
  // 1777 and 17770 to 17779.
  ['accounts by q', 11, accountList('OUNT 1777')],
  ['rated transactions', events, transactionList({})],
  ['rated transactions, a deep page', events, transactionList({}, deep)],
  ['rated transactions of an account', 2, transactionList(anAccount)],
  ['rated transactions by date', 14_285, transactionList(dates)],
  ['rated transactions of an account by date', 1, transactionList({ ...anAccount, ...dates })],
  ['rated transactions by q', 11, transactionList({ q: 'TXN-1777' })],
  // 17770 to 17779: 1777 is before October 5.
  ['rated transactions by q and date', 10, transactionList({ q: 'TXN-1777', ...dates })],
  ['usage events', events, eventList({})],
  ['usage events, a deep page', events, eventList({}, deep)],
  ['usage events that are rated', events, eventList({ status: 'rated' })],
  ['usage events that are rejected', 0, eventList({ status: 'rejected' })],
  ['usage events by code', 0, eventList({ code: 'NO_RATE_CARD' })],
  ['usage events of an account', 2, eventList(anAccount)],
  // 40,000 events of 500 services.
  ['usage events of a service', 80, eventList({ serviceId: serviceIdOf(3) })],
  ['usage events by external id', 1, eventList({ externalTransactionId: 'txn-777' })],
  ['usage events by time', 14_285, eventList(times)],
  ['usage events by time, rated', 14_285, eventList({ ...times, status: 'rated' })],
  // 4 days and 10 hours are 381,600 / 60.48 = 6,309.5, an hour more 6,369.05: 6,310 to 6,369.
  [
    'usage events of an hour',
    60,
    eventList({ from: '2026-10-05T10:00:00.000Z', to: '2026-10-05T11:00:00.000Z' }),
  ],
  ['usage events of an account by time', 1, eventList({ ...anAccount, ...times })],
];

describe('the plans of lists', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async function () {
    this.timeout(180_000);
    instance = await openTestInstance();
    tenant = await instance.tenant();
    const small = await instance.tenant();
    await asOwner(instance.databaseUrl, async (client) => {
      await fillTenant(client, { tenantId: tenant.id, accounts, events, services: 500 });
      // Another tenant with the same names: its rows must not be read either.
      await fillTenant(client, { tenantId: small.id, accounts: 100, events: 100, services: 5 });
      await client.query('vacuum analyze');
    });
  });
  after(() => instance.close());

  for (const [name, total, list] of cases) {
    it(`read by index, and sort no more than is found: ${name}`, async () => {
      const db = tenant.scope.db.read;
      let listed: Listed<unknown> | undefined;
      const statements = await record(db, async () => {
        listed = await list(instance, tenant);
      });
      expect(listed?.total, 'total').to.equal(total);
      expect(listed?.items.length).to.equal(Math.min(total, first.limit));
      expect(statements).to.not.deep.equal([]);
      for (const statement of statements) {
        for (const step of await explain(db, statement)) {
          expect(faultOf(step), statement.text).to.equal(undefined);
        }
      }
    });
  }

  it('find texts before tenants: the list of all rows of one is never unpacked', async () => {
    const indexes = await asOwner(instance.databaseUrl, async (client) => {
      const { rows } = await client.query<{ name: string; first: string; keys: string }>(`
        select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid, 1, true) as first,
          pg_get_indexdef(i.indexrelid) as keys
        from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
        where a.amname = 'gin' and c.relname like '%\\_search'`);
      return rows;
    });
    expect(indexes).to.have.length(8);
    for (const { name, first: column, keys } of indexes) {
      expect(column, name).to.not.equal('tenant_id');
      expect(keys, name).to.include('tenant_id');
    }
  });
});
