import { expect } from 'chai';
import { fillYear } from '../../src/cli/demo/demo-year.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const now = new Date('2026-11-25T12:00:00Z');

describe('durabill demo --year', function () {
  this.timeout(180_000);
  const instance = useInstance({ withWorkers: true, now: () => now });
  const tenant = useTenant(instance);

  // spec/beyond.md R425
  it('fills a year: every event is rated or rejected, in each month, and the months are billed', async () => {
    const api = { url: instance.url, token: tenant.token };
    const filled = await fillYear(api, 2_000, now);
    const { body: list } = await tenant.get('/v1/usage-events?status=rejected').expect(200);
    const rejected = list.data as { code: string; reason: string }[];
    expect([...new Set(rejected.map(({ code, reason }) => `${code} ${reason}`))]).to.deep.equal([
      "ACCOUNT_NOT_FOUND No account has the external id 'nobody'",
    ]);
    // One event in a thousand names a customer that is not there.
    expect(filled).to.deep.include({ accepted: 2_000, rated: 1_998, rejected: 2, months: 12 });
    const { body: usage } = await tenant
      .get('/v1/usage?from=2025-11-01&to=2026-12-01&bucket=month')
      .expect(200);
    const rows = usage.data as { bucket: string; events: number }[];
    expect(rows.map(({ bucket }) => bucket.slice(0, 7))).to.deep.equal([
      '2025-11',
      '2025-12',
      '2026-01',
      '2026-02',
      '2026-03',
      '2026-04',
      '2026-05',
      '2026-06',
      '2026-07',
      '2026-08',
      '2026-09',
      '2026-10',
      '2026-11',
    ]);
    expect(rows.reduce((sum, { events }) => sum + events, 0)).to.equal(1_998);
    const { body: invoices } = await tenant.get(`${external}/invoices?size=1`).expect(200);
    // 12 customers, of whom the small ones do not use something every month.
    expect(invoices.data.totalElements).to.be.within(100, 144);
  });
});
