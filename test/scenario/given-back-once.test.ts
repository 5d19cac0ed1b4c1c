import { expect } from 'chai';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { openBalances } from '../support/billing/journal.js';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';
import { createWallet } from '../support/billing/wallets.js';

// spec/beyond.md R313
describe('what a correction and a credit note both take off is given back once', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-01-02' });
  const { tenant } = story;
  let accountId = '';
  let serviceId = '';

  const calls = (day: string, count: number, of = serviceId) =>
    usage('acme', of, {
      eventTimestamp: `2026-${day}T12:00:00Z`,
      dimensions: { api_calls: String(count) },
    });
  const ofOne = (name: string) =>
    story.service(name, { rateCards: [usdCard(priceOfEach('api_calls', 1, { taxCode: 'VAT' }))] });
  const cancel = (id = '') =>
    tenant.post(`/v1/usage-events/${id}/cancel`, { reason: 'A test.' }).expect(200);
  const note = async (id: string | undefined, status = 201, items?: object[]) => {
    const body = { reason: 'A test.', ...(items ? { items } : {}) };
    return (await tenant.post(`/v1/invoices/${id}/credit-notes`, body).expect(status)).body;
  };
  /** The accounts of the ledger that do not stand at zero. */
  const balances = async (): Promise<Record<string, number>> => {
    expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    return openBalances(tenant);
  };
  const explained = async (id: string | undefined): Promise<void> => {
    for (const item of (await story.explain(id)).items) {
      expect(item.matches, item.description).to.equal(true);
    }
  };

  beforeEach(async () => {
    await story.taxRate('VAT', 10);
    accountId = await story.account('acme');
    serviceId = await ofOne('Calls');
  });

  it('a note after a cancel leaves what waits for the next invoice', async () => {
    const [, b = ''] = await story.send(calls('01-10', 60), calls('01-11', 40));
    const january = (await story.bill('2026-01')).invoices[0];
    await cancel(b);
    // 100 + 10, of which 40 + 4 wait.
    const items = january?.items as unknown as { id: string }[];
    await note(january?.id, 409, [{ itemId: items[0]?.id, amount: 60.01 }]);
    expect(await note(january?.id)).to.include({ amount: 60, taxAmount: 6 });
    await note(january?.id, 409);
    await story.send(calls('02-10', 50));
    const february = await story.bill('2026-02');
    expect(february.invoices[0]).to.include({ amount: 10, taxAmount: 1 });
    // Another note credits none of the 40 that were billed.
    await note(january?.id, 409);
    expect(await balances()).to.deep.equal({
      receivable: 55,
      tax: -5,
      revenue: -110,
      credited: 60,
    });
  });

  it('a cancel after a note is on the next invoice, with what was credited before', async () => {
    const [, b = '', c = ''] = await story.send(
      calls('01-10', 60),
      calls('01-11', 40),
      calls('01-12', 5),
    );
    const january = (await story.bill('2026-01')).invoices[0];
    const first = await note(january?.id);
    expect(first).to.include({ amount: 105 });
    await cancel(b);
    expect((await story.bill('2026-01')).invoices).to.deep.equal([]);
    await story.send(calls('02-10', 50));
    const february = await story.bill('2026-02');
    expect(february.lines).to.deep.equal([
      'Credited before (correction of INV-000001) 2026-01-11..2026-01-11 40',
      'api_calls (correction of INV-000001) 2026-01-11..2026-01-11 -40',
      'api_calls 2026-02-10..2026-02-10 50',
    ]);
    expect(february.invoices[0]).to.include({ amount: 50, taxAmount: 5 });
    await explained(february.invoices[0]?.id);
    const settled = { receivable: 55, tax: -5, revenue: -115, credited: 65 };
    expect(await balances()).to.deep.equal(settled);
    // Void and run again, it is the same.
    await story.voidInvoice(february.invoices[0]?.id);
    expect((await story.bill('2026-02')).lines).to.deep.equal(february.lines);
    expect(await balances()).to.deep.equal(settled);
    // Without the note all of the invoice is owed again, but for what was canceled.
    await story.voidInvoice(first.id as string);
    await cancel(c);
    await story.send(calls('03-10', 70));
    const march = await story.bill('2026-03');
    expect(march.lines).to.deep.equal([
      'Credited before (correction of INV-000001) 2026-01-12..2026-01-12 -40',
      'api_calls (correction of INV-000001) 2026-01-12..2026-01-12 -5',
      'api_calls 2026-03-10..2026-03-10 70',
    ]);
    // 60 of January with 50 and 70 of the others.
    expect(await balances()).to.deep.equal({ receivable: 198, tax: -18, revenue: -180 });
  });

  it('a note of a part leaves room for a correction, as far as it goes', async () => {
    const [, b = ''] = await story.send(calls('01-10', 60), calls('01-11', 40));
    const otherId = await ofOne('Storage');
    const [c = ''] = await story.send(calls('01-12', 30, otherId));
    const january = (await story.bill('2026-01')).invoices[0];
    const { body } = await tenant.get(`${external}/invoices/${january?.id}`).expect(200);
    const itemOf = (amount: number): string =>
      (body.items as { id: string; amount: number }[]).find((item) => item.amount === amount)?.id ??
      '';
    // 75 of the 100 calls; 25 are left, of which 40 are canceled: 15 were credited before. The other
    // service is whole.
    await note(january?.id, 201, [{ itemId: itemOf(100), amount: 75 }]);
    await cancel(b);
    await cancel(c);
    await story.send(calls('02-10', 90));
    const february = await story.bill('2026-02');
    expect(february.lines).to.deep.equal([
      'Credited before (correction of INV-000001) 2026-01-11..2026-01-11 15',
      'api_calls (correction of INV-000001) 2026-01-11..2026-01-11 -40',
      'api_calls (correction of INV-000001) 2026-01-12..2026-01-12 -30',
      'api_calls 2026-02-10..2026-02-10 90',
    ]);
    await note(january?.id, 409);
  });

  it('what is given back with discounts and grants is given back once, too', async () => {
    const off = { accountId, kind: 'discountPercent', value: 10, from: '2026-01-01' };
    await tenant.post('/v1/adjustments', off).expect(201);
    await createWallet(tenant, accountId, { balance: 18 });
    // 100 and 40, less 10 % 90 and 36; 18 of the first are paid by the grant.
    const [, b = ''] = await story.send(calls('01-10', 100), calls('01-11', 40));
    const january = (await story.bill('2026-01')).invoices[0];
    expect(january).to.include({ amount: 108, taxAmount: 10.8 });
    await cancel(b);
    // 90 - 18 are left.
    expect(await note(january?.id)).to.include({ amount: 72, taxAmount: 7.2 });
    await story.send(calls('02-10', 100));
    const february = (await story.bill('2026-02')).invoices[0];
    expect(february).to.include({ amount: 54, taxAmount: 5.4 });
    // The other way round.
    const march = await story.send(calls('03-10', 100), calls('03-11', 40));
    const third = (await story.bill('2026-03')).invoices[0];
    expect(await note(third?.id)).to.include({ amount: 126, taxAmount: 12.6 });
    await cancel(march[1]);
    await story.send(calls('04-10', 100));
    const april = (await story.bill('2026-04')).invoices[0];
    expect(april).to.include({ amount: 90, taxAmount: 9 });
    await explained(april?.id);
  });

  it('a minimum that a correction raises is no new debt of what was credited', async () => {
    const free = await story.service('Free', {
      rateCards: [usdCard(priceOfEach('api_calls', 1))],
    });
    const minimum = { accountId, kind: 'minimum', value: 50, currency: 'USD', from: '2026-01-01' };
    await tenant.post('/v1/adjustments', { ...minimum, to: '2026-02-01' }).expect(201);
    const [a = ''] = await story.send(calls('01-10', 20, free));
    const january = (await story.bill('2026-01')).invoices[0];
    expect(january).to.include({ amount: 50 });
    await note(january?.id);
    await cancel(a);
    await story.send(calls('02-10', 7, free));
    const february = await story.bill('2026-02');
    expect(february.invoices[0]).to.include({ amount: 7 });
    expect((await story.bill('2026-03')).lines).to.deep.equal([]);
    expect(await balances()).to.deep.equal({ receivable: 7, revenue: -57, credited: 50 });
  });

  // spec/beyond.md R314
  describe('a minimum or a commitment that late usage lowers', () => {
    const agree = (value: number, kind = 'minimum') =>
      tenant
        .post('/v1/adjustments', {
          accountId,
          kind,
          value,
          currency: 'USD',
          from: '2026-01-01',
          to: '2026-02-01',
        })
        .expect(201);
    let freeId = '';

    beforeEach(async () => {
      freeId = await story.service('Free', { rateCards: [usdCard(priceOfEach('api_calls', 1))] });
    });

    it('gives back nothing of what a note has credited', async () => {
      await agree(50);
      const january = (await story.bill('2026-01')).invoices[0];
      const first = await note(january?.id);
      expect(first).to.include({ amount: 50 });
      await story.send(calls('01-20', 20, freeId));
      const february = await story.bill('2026-02');
      // Of the 50 that were credited 20 are owed no more: the 20 of usage are.
      expect(february.lines).to.deep.equal([
        'Credited before (correction of INV-000001) 2026-01-01..2026-01-31 20',
        'Minimum of 50 (2026-01) 2026-01-01..2026-01-31 -20',
        'api_calls 2026-01-20..2026-01-20 20',
      ]);
      expect(february.invoices[0]).to.include({ amount: 20 });
      await explained(february.invoices[0]?.id);
      const settled = { receivable: 20, revenue: -50, credited: 30 };
      expect(await balances()).to.deep.equal(settled);
      await story.voidInvoice(february.invoices[0]?.id);
      expect((await story.bill('2026-02')).lines).to.deep.equal(february.lines);
      expect(await balances()).to.deep.equal(settled);
      // Without the note January is 50: 20 of usage, and 30 of the minimum.
      await story.voidInvoice(first.id as string);
      await story.send(calls('01-21', 5, freeId));
      expect((await story.bill('2026-03')).lines).to.deep.equal([
        // A credit note of 20, with the opposite signs.
        'Credited before (correction of INV-000001) 2026-01-01..2026-01-31 20',
        'Minimum of 50 (2026-01) 2026-01-01..2026-01-31 5',
        'api_calls 2026-01-21..2026-01-21 -5',
      ]);
      expect(await balances()).to.deep.equal({ receivable: 50, revenue: -50 });
    });

    it('leaves less to credit, and what was credited of the rest is no new debt twice', async () => {
      await agree(50, 'commitment');
      const january = (await story.bill('2026-01')).invoices[0];
      await story.send(calls('01-20', 20, freeId));
      expect((await story.bill('2026-02')).invoices[0]).to.include({ amount: 0 });
      const [item] = january?.items as unknown as { id: string }[];
      await note(january?.id, 409, [{ itemId: item?.id, amount: 30.01 }]);
      expect(await note(january?.id)).to.include({ amount: 30 });
      await note(january?.id, 409);
      // 60 of usage: nothing is left of the commitment, of which 30 were given back and 30 credited.
      await story.send(calls('01-21', 40, freeId));
      const march = await story.bill('2026-03');
      expect(march.lines).to.deep.equal([
        'Commitment of 50 (2026-01) 2026-01-01..2026-01-31 -30',
        'Credited before (correction of INV-000001) 2026-01-01..2026-01-31 30',
        'api_calls 2026-01-21..2026-01-21 40',
      ]);
      expect(await balances()).to.deep.equal({ receivable: 60, revenue: -60 });
    });

    it('takes the tax with it, and a note of a part as far as it goes', async () => {
      await agree(50);
      await story.send(calls('01-10', 20));
      const january = (await story.bill('2026-01')).invoices[0];
      expect(january).to.include({ amount: 50, taxAmount: 5 });
      const items = january?.items as unknown as { id: string; chargeType: string }[];
      const topUp = items.find(({ chargeType }) => chargeType === 'Minimum');
      // 25 of 30: 5 are left, of the 12 that late usage takes 7 were credited.
      await note(january?.id, 201, [{ itemId: topUp?.id, amount: 25 }]);
      await story.send(calls('01-20', 12));
      const february = await story.bill('2026-02');
      expect(february.lines).to.deep.equal([
        'Credited before (correction of INV-000001) 2026-01-01..2026-01-31 7',
        'Minimum of 50 (2026-01) 2026-01-01..2026-01-31 -12',
        'api_calls 2026-01-20..2026-01-20 12',
      ]);
      expect(february.invoices[0]).to.include({ amount: 7, taxAmount: 0.7 });
      // 20 and 12 of usage, and 18 of the minimum, of which 18 are credited.
      expect(await balances()).to.deep.equal({
        receivable: 35.2,
        tax: -3.2,
        revenue: -50,
        credited: 18,
      });
    });

    // spec/beyond.md R317
    it('takes back the tax that was billed with it, and no other', async () => {
      await agree(50);
      // Without charges there is no tax code to go by.
      const january = (await story.bill('2026-01')).invoices[0];
      expect(january).to.include({ amount: 50, taxAmount: 0 });
      // 20 with 10 % of tax; the 20 that the minimum is less had none.
      await story.send(calls('01-20', 20));
      const february = (await story.bill('2026-02')).invoices[0];
      expect(february).to.include({ amount: 0, taxAmount: 2 });
      expect(await balances()).to.deep.equal({ receivable: 52, tax: -2, revenue: -50 });
    });

    it('gives back once what grants did not pay', async () => {
      await agree(50);
      await createWallet(tenant, accountId, { balance: 45 });
      const january = (await story.bill('2026-01')).invoices[0];
      expect(january).to.include({ amount: 5 });
      expect(await note(january?.id)).to.include({ amount: 5 });
      await story.send(calls('01-20', 20, freeId));
      // 45 of 50 are paid by the grant; the 5 that were credited are owed.
      const february = await story.bill('2026-02');
      expect(february.invoices[0]).to.include({ amount: 5 });
      expect(await balances()).to.deep.equal({ clearing: 45, receivable: 5, revenue: -50 });
    });
  });
});
