import { expect } from 'chai';
import { accountIdOf, fillSearch, fillTenant, serviceIdOf } from '../../support/servers/fill.js';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const accounts = 20_000;
const events = 40_000;
const pageSize = 20;

const accountsPath = `${external}/accounts`;
const transactions = `${external}/rated-transactions`;
const usageEvents = `/v1/usage-events?limit=${pageSize}`;
/** The page that begins with the last hundred accounts. */
const deepPage = (accounts - 100) / pageSize;

const ofAccount = `accountId=${accountIdOf(10_000)}`;
/** October 5 to 14: 10 of 28 days. */
const dates = 'fromDate=2026-10-05&toDate=2026-10-14';
const times = 'from=2026-10-05T00:00:00.000Z&to=2026-10-15T00:00:00.000Z';

// One event each 28 * 86,400 / 40,000 = 60.48 s. The four days before October 5 have 345,600 / 60.48
// = 5,714.3 of them, so 5,715; the first fourteen have 20,000; between them are 14,285. The event i is
// of the account (i * 7,919) mod 20,000: 7,919 is prime, so each account has two, i and i + 20,000;
// the account 10,000 has the events 10,000, which is in those days, and 30,000.
const cases: readonly (readonly [name: string, total: number, path: string])[] = [
  ['accounts', accounts, `${accountsPath}?size=20`],
  ['accounts, a deep page', accounts, `${accountsPath}?size=20&page=${deepPage}`],
  // 1777 and 17770 to 17779.
  ['accounts by q', 11, `${accountsPath}?q=OUNT%201777`],
  ['rated transactions', events, transactions],
  ['rated transactions, a deep page', events, `${transactions}?size=20&page=${deepPage}`],
  ['rated transactions of an account', 2, `${transactions}?${ofAccount}`],
  ['rated transactions by date', 14_285, `${transactions}?${dates}`],
  ['rated transactions of an account by date', 1, `${transactions}?${ofAccount}&${dates}`],
  ['rated transactions by q', 11, `${transactions}?q=TXN-1777`],
  // 17770 to 17779: 1777 is before October 5.
  ['rated transactions by q and date', 10, `${transactions}?q=TXN-1777&${dates}`],
  ['usage events', events, usageEvents],
  ['usage events, a deep page', events, `${usageEvents}&offset=${accounts - 100}`],
  ['usage events that are rated', events, `${usageEvents}&status=rated`],
  ['usage events that are rejected', 0, `${usageEvents}&status=rejected`],
  ['usage events by code', 0, `${usageEvents}&code=NO_RATE_CARD`],
  ['usage events of an account', 2, `${usageEvents}&${ofAccount}`],
  // 40,000 events of 500 services.
  ['usage events of a service', 80, `${usageEvents}&serviceId=${serviceIdOf(3)}`],
  ['usage events by external id', 1, `${usageEvents}&externalTransactionId=txn-777`],
  ['usage events by time', 14_285, `${usageEvents}&${times}`],
  ['usage events by time, rated', 14_285, `${usageEvents}&${times}&status=rated`],
  // 4 days and 10 hours are 381,600 / 60.48 = 6,309.5, an hour more 6,369.05: 6,310 to 6,369.
  [
    'usage events of an hour',
    60,
    `${usageEvents}&from=2026-10-05T10:00:00.000Z&to=2026-10-05T11:00:00.000Z`,
  ],
  ['usage events of an account by time', 1, `${usageEvents}&${ofAccount}&${times}`],
];

/** `npm run bench` measures these lists with a million rows (`flat`); here they have to be right. */
describe('lists of tens of thousands', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const small = useTenant(instance);
  before(async function () {
    this.timeout(180_000);
    await asOwner(instance.databaseUrl, async (client) => {
      await fillTenant(client, { tenantId: tenant.id, accounts, events, services: 500 });
      await fillSearch(client, tenant.id);
      // Another tenant with the same names: its rows must not be counted either.
      await fillTenant(client, { tenantId: small.id, accounts: 100, events: 100, services: 5 });
      await fillSearch(client, small.id);
      await client.query('vacuum analyze');
    });
  });

  for (const [name, total, path] of cases) {
    it(`count what is found, and show a page of it: ${name}`, async () => {
      const { body } = await tenant.get(path).expect(200);
      const page = body.pagination
        ? { total: body.pagination.total, shown: body.data.length }
        : { total: body.data.totalElements, shown: body.data.content.length };
      expect(page).to.deep.equal({ total, shown: Math.min(total, pageSize) });
    });
  }
});
