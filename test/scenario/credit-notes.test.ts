import { expect } from 'chai';
import { readExport } from '../support/billing/exports.js';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { openReceiver } from '../support/servers/receiver.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

interface Note {
  readonly id: string;
  readonly invoiceNo: string;
  readonly amount: number;
  readonly taxAmount: number;
  readonly total: number;
  readonly items: readonly { readonly id: string; readonly amount: number; readonly tax: number }[];
}

/** Invoices that were too high, credited in parts, before and after they are paid. */
describe('credit notes against invoices', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;

  /** 10,001 calls at 0.01 with 19 % and 3,333 GB at 0.01 without: 100.01 + 19.00 + 33.33 = 152.34. */
  const bill = async (name: string) => {
    const accountId = await story.account(name);
    const calls = { api_calls: '10001' };
    await story.send(usage(name, callsId, { dimensions: calls }));
    await story.send(usage(name, storageId, { dimensions: { api_calls: '3333' } }));
    const { invoices } = await story.bill('2026-03', { accountId });
    const [invoice] = invoices;
    if (!invoice) throw new Error('Nothing was billed.');
    expect(invoice).to.include({ amount: 133.34, taxAmount: 19, balance: 152.34 });
    const idOf = (amount: number) =>
      (invoice.items.find((item) => item.amount === amount) as unknown as { id: string }).id;
    return {
      accountId,
      id: invoice.id,
      no: invoice.invoiceNo,
      calls: idOf(100.01),
      storage: idOf(33.33),
    };
  };
  const credit = async (id: string, items?: object[]): Promise<Note> => {
    const body = { reason: 'The agreed price was lower.', ...(items ? { items } : {}) };
    return (await tenant.post(`/v1/invoices/${id}/credit-notes`, body).expect(201)).body as Note;
  };
  const invoice = async (id: string) =>
    (await tenant.get(`${external}/invoices/${id}`).expect(200)).body;
  const payment = async (id: string) =>
    (await tenant.get(`${external}/payments/${id}`).expect(200)).body;
  const inShort = ({ invoiceNo, amount, taxAmount, items }: Note) => [
    invoiceNo,
    amount,
    taxAmount,
    items.map((item) => [item.amount, item.tax]),
  ];

  let callsId = '';
  let storageId = '';
  beforeEach(async () => {
    await story.taxRate('VAT', 19);
    const taxed = usdCard(priceOfEach('api_calls', 0.01, { taxCode: 'VAT' }));
    callsId = await story.service('Calls', { rateCards: [taxed] });
    storageId = await story.service('Storage');
  });

  // spec/beyond.md R68, R69
  it('take the tax in proportion, and the last one what remains of it', async () => {
    const { id, no, calls, storage } = await bill('acme');
    // 19.00 x 33.33 / 100.01 = 6.332...
    const first = await credit(id, [{ itemId: calls, amount: 33.33 }]);
    expect(inShort(first)).to.deep.equal(['CN-000001', 33.33, 6.33, [[33.33, 6.33]]]);
    expect(first).to.deep.include({
      invoiceType: 'Credit Note',
      invoiceStatus: 'Posted',
      creditedInvoiceId: id,
      creditReason: 'The agreed price was lower.',
      total: 39.66,
      balance: 0,
      dueDate: null,
    });
    // 152.34 - 39.66
    expect(await invoice(id)).to.include({
      balance: 112.68,
      creditedAmount: 39.66,
      paymentStatus: 'Unpaid',
    });
    const second = await credit(id, [
      { itemId: calls, amount: 33.33 },
      { itemId: storage, amount: 0.01 },
    ]);
    expect(inShort(second)).to.deep.equal([
      'CN-000002',
      33.34,
      6.33,
      [
        [33.33, 6.33],
        [0.01, 0],
      ],
    ]);
    // All that is left: 100.01 - 66.66 with 19.00 - 12.66, and 33.33 - 0.01.
    const last = await credit(id);
    expect(inShort(last)).to.deep.equal([
      'CN-000003',
      66.67,
      6.34,
      [
        [33.35, 6.34],
        [33.32, 0],
      ],
    ]);
    // 39.66 + 39.67 + 73.01 = 152.34
    expect(await invoice(id)).to.include({
      balance: 0,
      creditedAmount: 152.34,
      paymentStatus: 'Paid',
    });
    const nothing = { reason: 'Once more.' };
    const { body } = await tenant.post(`/v1/invoices/${id}/credit-notes`, nothing).expect(409);
    expect(JSON.stringify(body)).to.include(`Nothing of the invoice '${no}' is left`);
    // Billing runs go on with the same series, and nothing that was credited is billed again.
    expect((await story.bill('2026-03')).invoices).to.deep.equal([]);
  }).timeout(120_000);

  // spec/beyond.md R69
  it('give payments back what was paid too much, the latest first', async () => {
    const { accountId, id, calls } = await bill('acme');
    const first = await story.pay(accountId, 100);
    const second = await story.pay(accountId, 52.34);
    expect(await invoice(id)).to.include({ balance: 0, paymentStatus: 'Paid' });
    // 42.02 and 19.00 x 42.02 / 100.01 = 7.982...: 50.00 in all, all of it from the second payment.
    const note = await credit(id, [{ itemId: calls, amount: 42.02 }]);
    expect(note).to.include({ taxAmount: 7.98, total: 50 });
    expect(await invoice(id)).to.include({ balance: 0, paymentStatus: 'Paid' });
    expect(await payment(second.id)).to.include({
      balance: 50,
      balanceStatus: 'Partially Applied',
    });
    expect(await payment(first.id)).to.include({ balance: 0, balanceStatus: 'Applied' });
    // 102.34 is left: 2.34 of the second payment, and 100 of the first.
    await credit(id);
    expect(await payment(second.id)).to.include({ balance: 52.34, balanceStatus: 'Unapplied' });
    expect(await payment(first.id)).to.include({ balance: 100, balanceStatus: 'Unapplied' });
  }).timeout(120_000);

  // spec/beyond.md R69
  it('lower what is open of an invoice that is paid in part', async () => {
    const { accountId, id, storage } = await bill('acme');
    const paid = await story.pay(accountId, 130);
    // 152.34 - 130 - 10
    await credit(id, [{ itemId: storage, amount: 10 }]);
    expect(await invoice(id)).to.include({ balance: 12.34, paymentStatus: 'Partially Paid' });
    expect(await payment(paid.id)).to.include({ balance: 0 });
    // 23.33 is left of the item, more than is open: 10.99 of the payment is free.
    await credit(id, [{ itemId: storage, amount: 23.33 }]);
    expect(await invoice(id)).to.include({ balance: 0, paymentStatus: 'Paid' });
    expect(await payment(paid.id)).to.include({ balance: 10.99 });
    // What is free pays what is open.
    const other = await bill('acme 2');
    expect(await invoice(other.id)).to.include({ balance: 152.34 });
  }).timeout(120_000);

  // spec/beyond.md R70
  it('keep an invoice from being void until they are void themselves', async () => {
    const { accountId, id, calls } = await bill('acme');
    const paid = await story.pay(accountId, 152.34);
    const note = await credit(id, [{ itemId: calls, amount: 100.01 }]);
    expect(note.total).to.equal(119.01);
    await tenant.post(`/v1/invoices/${id}/void`).expect(409);
    await tenant.post(`/v1/invoices/${note.id}/credit-notes`, { reason: 'x' }).expect(409);
    await story.voidInvoice(note.id, 'It was right.');
    expect(await invoice(id)).to.include({ balance: 119.01, creditedAmount: 0 });
    expect(await payment(paid.id)).to.include({ balance: 119.01 });
    // It can be credited again, with all of its tax.
    const again = await credit(id, [{ itemId: calls, amount: 100.01 }]);
    expect(inShort(again)).to.deep.equal(['CN-000002', 100.01, 19, [[100.01, 19]]]);
    await story.voidInvoice(again.id);
    await story.voidInvoice(id);
    await tenant.post(`/v1/invoices/${id}/credit-notes`, { reason: 'x' }).expect(409);
  }).timeout(120_000);

  // spec/beyond.md R68
  it('never credit more than is left, however many come at once', async () => {
    const { id, calls } = await bill('acme');
    const credits = Array.from({ length: 10 }, () =>
      tenant.post(`/v1/invoices/${id}/credit-notes`, {
        reason: 'At once.',
        items: [{ itemId: calls, amount: 20 }],
      }),
    );
    const answers = await Promise.all(credits);
    // 5 x 20 of 100.01, each with 19.00 x 20 / 100.01 = 3.799... = 3.80.
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      ...Array<number>(5).fill(201),
      ...Array<number>(5).fill(409),
    ]);
    const numbers = answers.flatMap(({ body }) => (body as Partial<Note>).invoiceNo ?? []);
    expect(numbers.sort()).to.deep.equal([1, 2, 3, 4, 5].map((number) => `CN-00000${number}`));
    expect(await invoice(id)).to.include({ creditedAmount: 119, balance: 33.34 });
    expect(inShort(await credit(id))).to.deep.equal([
      'CN-000006',
      33.34,
      0,
      [
        [0.01, 0],
        [33.33, 0],
      ],
    ]);
  }).timeout(120_000);

  // spec/beyond.md R68, R24
  it('are told to webhooks, exported and explained', async () => {
    const { accountId, id, no, calls } = await bill('acme');
    const receiver = await openReceiver();
    const events = ['invoice.posted', 'invoice.paid', 'payment.applied'];
    await tenant
      .post('/v1/webhooks', { url: receiver.url, events, secret: 'a secret of mine' })
      .expect(201);
    await credit(id, [{ itemId: calls, amount: 100.01 }]);
    const last = await credit(id);
    const received = await receiver.until(({ length }) => length >= 3);
    await receiver.close();
    const told = received.map(({ payload }) => payload as unknown as { event: string; data: Note });
    expect(told.map(({ event, data }) => [event, data.invoiceNo])).to.have.deep.members([
      ['invoice.posted', 'CN-000001'],
      ['invoice.posted', 'CN-000002'],
      ['invoice.paid', no],
    ]);
    const { body: explained } = await tenant.get(`/v1/invoices/${last.id}/explain`).expect(200);
    expect(explained).to.include({ creditedInvoiceId: id, invoiceNo: 'CN-000002' });
    expect(explained.items.map((item: { matches: boolean }) => item.matches)).to.deep.equal([true]);
    expect(explained.summary.previous).to.equal(null);
    const { text } = await readExport(story.instance, tenant, `invoices?accountId=${accountId}`);
    const rows = text
      .split('\n')
      .filter((line) => line.includes('"invoiceNo"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      rows.map((row) => [row['invoiceNo'], row['creditedInvoiceId'], row['creditedAmount']]),
    ).to.have.deep.members([
      [no, null, 152.34],
      ['CN-000001', id, 0],
      ['CN-000002', id, 0],
    ]);
    const { body: pdf } = await tenant.get(`${external}/invoices/${last.id}/pdf`).expect(200);
    expect(
      Buffer.from(pdf as Buffer)
        .subarray(0, 5)
        .toString(),
    ).to.equal('%PDF-');
  }).timeout(120_000);
});
