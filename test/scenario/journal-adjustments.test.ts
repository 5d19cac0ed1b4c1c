import { expect } from 'chai';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { openBalances } from '../support/billing/journal.js';
import { usage } from '../support/billing/usage.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';
import { createWallet } from '../support/billing/wallets.js';

// spec/beyond.md R310
describe('the journal of minimums, maximums and commitments', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-01-02' });
  const { tenant } = story;

  const adjust = (body: object) =>
    tenant.post('/v1/adjustments', { from: '2026-01-01', currency: 'USD', ...body }).expect(201);
  const calls = (day: string, count: number, of: string) =>
    usage('acme', of, {
      eventTimestamp: `2026-${day}T12:00:00Z`,
      dimensions: { api_calls: String(count) },
    });
  const ofOne = () => story.service('Calls', { rateCards: [usdCard(priceOfEach('api_calls', 1))] });

  /** The accounts that do not stand at zero; debits are credits, and the audit finds nothing. */
  const balances = async (): Promise<Record<string, number>> => {
    expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    return openBalances(tenant);
  };
  const adjusted = async (): Promise<string[]> => {
    const { body } = await tenant.get('/v1/journal?kind=adjustment').expect(200);
    return (
      body.data as {
        recordType: string;
        postings: { account: string; amount: number }[];
      }[]
    ).map(
      ({ recordType, postings }) =>
        `${recordType}: ${postings.map(({ account, amount }) => `${account} ${amount}`).join(', ')}`,
    );
  };

  for (const { kind, used, entry } of [
    { kind: 'minimum', used: 20, entry: 'charge: unbilled 30, revenue -30' },
    { kind: 'commitment', used: 20, entry: 'charge: unbilled 30, revenue -30' },
    { kind: 'maximum', used: 80, entry: 'charge: unbilled -30, revenue 30' },
  ]) {
    it(`has what a ${kind} makes of revenue, until the invoice is void, and again`, async () => {
      const serviceId = await ofOne();
      const accountId = await story.account('acme');
      await adjust({ accountId, kind, value: 50 });
      await story.send(calls('01-10', used, serviceId));
      const { invoices } = await story.bill('2026-01');
      expect(invoices[0]).to.include({ amount: 50 });
      expect(await adjusted()).to.deep.equal([entry]);
      expect(await balances()).to.deep.equal({ receivable: 50, revenue: -50 });
      await story.voidInvoice(invoices[0]?.id);
      expect(await balances()).to.deep.equal({ unbilled: used, revenue: -used });
      expect((await story.bill('2026-01')).invoices[0]).to.include({ amount: 50 });
      expect(await balances()).to.deep.equal({ receivable: 50, revenue: -50 });
    });
  }

  it('has the correction of a minimum and of a commitment, and what a note credits', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'minimum', value: 50 });
    await adjust({ accountId, kind: 'commitment', value: 150, period: 'Quarterly' });
    await story.send(calls('01-10', 70, serviceId));
    await story.bill('2026-01');
    await story.bill('2026-02');
    // 70, a minimum of 50 twice: 170 is more than the commitment.
    const march = await story.bill('2026-03');
    expect(march.lines).to.deep.equal(['Minimum of 50 (2026-03) 2026-03-01..2026-03-31 50']);
    expect(await balances()).to.deep.equal({ receivable: 170, revenue: -170 });
    // 10 of February come late: its minimum gives them back.
    await story.send(calls('02-10', 10, serviceId));
    await story.bill('2026-04');
    expect(await balances()).to.deep.equal({ receivable: 220, revenue: -220 });
    // A note takes off what was billed; what was earned stays in revenue, beside what was credited.
    await tenant
      .post(`/v1/invoices/${march.invoices[0]?.id}/credit-notes`, { reason: 'A gift.' })
      .expect(201);
    expect(await balances()).to.deep.equal({ receivable: 170, revenue: -220, credited: 50 });
  });

  it('has what grants pay of it, and what a maximum gives back to them', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await createWallet(tenant, accountId, { balance: 120 });
    await adjust({ accountId, kind: 'maximum', value: 100 });
    await story.send(calls('01-10', 150, serviceId));
    const january = await story.bill('2026-01');
    // 150 - 50 = 100 are earned, which the wallet paid; 20 of what it paid went back.
    const settled = { clearing: 120, wallet: -20, revenue: -100 };
    expect(await balances()).to.deep.equal(settled);
    await story.voidInvoice(january.invoices[0]?.id);
    // The 50 are owed again, and what had gone back pays 20 of them again.
    expect(await balances()).to.deep.equal({ clearing: 120, unbilled: 30, revenue: -150 });
    await story.bill('2026-01');
    expect(await balances()).to.deep.equal(settled);
  });
});
