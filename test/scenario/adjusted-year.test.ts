import { expect } from 'chai';
import { auditPeriods } from '../../src/queries/billing/adjustments/period-audit.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { usage } from '../support/billing/usage.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';
import { createWallet } from '../support/billing/wallets.js';

const year = { periodStart: '2026-01-01', periodEnd: '2026-12-31', samplePercent: 100 };

// spec/beyond.md R287 to R291
describe('minimums, maximums and commitments', function () {
  // A year is billed month by month.
  this.timeout(120_000);
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
  /** Bills a month on the first day of the next one, and shows its items. */
  const bill = async (month: string): Promise<readonly string[]> =>
    (await story.bill(`2026-${month}`)).lines;

  it('over a year by hand: minimums, a true-up where the contract ends, a correction after it', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    const { id: contractId } = await story.subscribe(accountId, [serviceId], {
      startDate: '2026-01-01',
      endDate: '2026-08-31',
      currency: 'USD',
    });
    await adjust({ contractId, kind: 'minimum', value: 50 });
    await adjust({ contractId, kind: 'commitment', value: 600, period: 'Yearly' });
    const [, , april = ''] = await story.send(
      calls('01-10', 100, serviceId),
      calls('02-10', 20, serviceId),
      calls('04-10', 120, serviceId),
      ...['05', '06', '07', '08'].map((month) => calls(`${month}-10`, 50, serviceId)),
    );
    expect(await bill('01')).to.deep.equal(['api_calls 2026-01-10..2026-01-10 100']);
    story.travelTo('2026-02-28');
    const draft = (await tenant.get('/v1/accounts/acme/next-invoice').expect(200)).body;
    expect(draft.invoices[0]).to.include({ amount: 50 });
    // 20, and 30 up to the minimum of 50; in March all of it.
    expect(await bill('02')).to.deep.equal([
      'Minimum of 50 (2026-02) 2026-02-01..2026-02-28 30',
      'api_calls 2026-02-10..2026-02-10 20',
    ]);
    expect(await bill('03')).to.deep.equal(['Minimum of 50 (2026-03) 2026-03-01..2026-03-31 50']);
    for (const month of ['04', '05', '06', '07']) expect(await bill(month)).to.have.length(1);
    // The contract ends with August: 100 + 20 + 120 + 4 x 50 = 440 of usage and 30 + 50 of minimums are
    // 520 of the 600 that were committed.
    expect(await bill('08')).to.deep.equal([
      'Commitment of 600 (2026-01-01 to 2026-08-31) 2026-01-01..2026-08-31 80',
      'api_calls 2026-08-10..2026-08-10 50',
    ]);
    expect(await bill('08')).to.deep.equal([]);
    // April is canceled: -120, its minimum 50, and 440 - 120 + 80 + 50 = 450 leaves 150 of the
    // commitment, of which 80 are billed.
    await tenant.post(`/v1/usage-events/${april}/cancel`, { reason: 'A test.' }).expect(200);
    const corrected = await story.bill('2026-09');
    expect(corrected.lines).to.deep.equal([
      'Commitment of 600 (2026-01-01 to 2026-08-31) 2026-01-01..2026-08-31 70',
      'Minimum of 50 (2026-04) 2026-04-01..2026-04-30 50',
      'api_calls (correction of INV-000004) 2026-04-10..2026-04-10 -120',
    ]);
    expect(corrected.invoices[0]).to.include({ amount: 0 });
    // Nothing more comes of it, in the rest of the year and after it.
    for (const month of ['10', '11', '12']) expect(await bill(month)).to.deep.equal([]);

    expect(await auditPeriods(tenant.scope, year)).to.deep.equal({ count: 0, differences: [] });
    const explained = await story.explain(corrected.invoices[0]?.id);
    for (const item of explained.items) expect(item.matches, item.description).to.equal(true);
    const trueUp = explained.items.find(
      ({ chargeType }: { chargeType: string }) => chargeType === 'Commitment',
    );
    expect(trueUp.adjustments).to.deep.equal([
      {
        adjustmentId: trueUp.adjustments[0].adjustmentId,
        kind: 'commitment',
        value: 600,
        periodStart: '2026-01-01',
        periodEnd: '2026-08-31',
        spent: 450,
        amount: 70,
      },
    ]);
  });

  // spec/beyond.md R308
  it('are audited: what was billed, and what the items show', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'minimum', value: 50 });
    await story.send(calls('01-10', 20, serviceId));
    const { invoices } = await story.bill('2026-01');
    const found = async (): Promise<string[]> =>
      (await auditPeriods(tenant.scope, year)).differences.map(
        ({ field, recorded, computed }) => `${field}: ${recorded} ${computed}`,
      );
    const change = (sql: string) =>
      asOwner(story.instance.databaseUrl, (client) => client.query(sql, [tenant.id]));
    expect(await found()).to.deep.equal([]);
    const charge = 'update adjustment_charge set amount = 31 where tenant_id = $1';
    await change(charge);
    // 50 - 20 = 30.
    expect(await found()).to.deep.equal([
      'amount of the minimum from 2026-01-01: 31 30',
      'items of the minimum from 2026-01-01: 30 31',
    ]);
    await change(charge.replace('31', '30'));
    const item = `update invoice_item set exact_amount = 29
      where tenant_id = $1 and charge_type = 'Minimum'`;
    await change(item);
    expect(await found()).to.deep.equal(['items of the minimum from 2026-01-01: 29 30']);
    await change(item.replace('29', '30'));
    await story.voidInvoice(invoices[0]?.id);
    expect(await found()).to.deep.equal([]);
    await story.bill('2026-01');
    expect(await found()).to.deep.equal([]);
  });

  it('are billed again after a void, once', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'minimum', value: 40, serviceId });
    const first = await story.bill('2026-01');
    expect(first.lines).to.deep.equal(['Minimum of 40 (2026-01) 2026-01-01..2026-01-31 40']);
    expect(await bill('01')).to.deep.equal([]);
    await story.voidInvoice(first.invoices[0]?.id);
    expect(await bill('01')).to.deep.equal(['Minimum of 40 (2026-01) 2026-01-01..2026-01-31 40']);
    expect(await bill('01')).to.deep.equal([]);
    // Usage that comes late is what the minimum was for.
    await story.send(calls('01-20', 15, serviceId));
    expect(await bill('02')).to.deep.equal([
      'Minimum of 40 (2026-01) 2026-01-01..2026-01-31 -15',
      'Minimum of 40 (2026-02) 2026-02-01..2026-02-28 40',
      'api_calls 2026-01-20..2026-01-20 15',
    ]);
  });

  it('hold a maximum at every run, with its tax, and credits pay no more than it leaves', async () => {
    await story.taxRate('VAT', 20);
    const card = usdCard(priceOfEach('api_calls', 1, { taxCode: 'VAT' }));
    const serviceId = await story.service('Calls', { rateCards: [card] });
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'maximum', value: 100 });
    const walletId = await createWallet(tenant, accountId, { balance: 120 });
    const balance = async (): Promise<number> =>
      (await tenant.get(`${external}/wallets/${walletId}`).expect(200)).body.balance;
    await story.send(calls('01-10', 150, serviceId));
    expect(await balance()).to.equal(0);
    const january = await story.bill('2026-01');
    // 150 - 50 = 100, which credits pay; of the 120 that were drawn, 20 go back.
    expect(january.lines).to.deep.equal([
      'Credits 2026-01-01..2026-01-31 -100',
      'Maximum of 100 (2026-01) 2026-01-01..2026-01-31 -50',
      'api_calls 2026-01-10..2026-01-10 150',
    ]);
    expect(january.invoices[0]).to.include({ amount: 0, taxAmount: 0 });
    expect(await balance()).to.equal(20);
    const explained = await story.explain(january.invoices[0]?.id);
    for (const item of explained.items) expect(item.matches, item.description).to.equal(true);
    await story.voidInvoice(january.invoices[0]?.id);
    const again = await story.bill('2026-01');
    expect(again.lines).to.deep.equal(january.lines);
    expect(await balance()).to.equal(20);

    // Half a month each: 60, then 70 more, 30 of which are above the maximum. 20 of credits are left.
    await story.send(calls('02-05', 60, serviceId), calls('02-20', 70, serviceId));
    const half = await story.bill(['2026-02-01', '2026-02-14']);
    expect(half.invoices[0]).to.include({ amount: 40, taxAmount: 8 });
    const rest = await story.bill(['2026-02-15', '2026-02-28']);
    expect(rest.lines).to.deep.equal([
      'Maximum of 100 (2026-02) 2026-02-01..2026-02-28 -30',
      'api_calls 2026-02-20..2026-02-20 70',
    ]);
    expect(rest.invoices[0]).to.include({ amount: 40, taxAmount: 8 });
  });
});
