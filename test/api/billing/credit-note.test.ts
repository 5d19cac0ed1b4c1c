import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { storeInvoice } from '../../support/billing/invoices.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('POST /v1/invoices/{invoiceId}/credit-notes', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let accountId = '';
  before(async () => {
    const { body } = await tenant.post(`${external}/accounts`, { name: 'Acme' }).expect(201);
    accountId = body.id as string;
  });

  let number = 0;
  /** An invoice of two items, 10.00 with 1.90 tax and 5.00 without. */
  const make = async (more: object = {}) => {
    number += 1;
    const [first, second] = [newId(), newId()];
    const id = await storeInvoice(tenant.scope, {
      invoice: {
        invoiceNo: `INV-TEST-${number}`,
        accountId,
        amount: '15.00',
        taxAmount: '1.90',
        balance: '16.90',
        ...more,
      },
      items: [
        { id: first, amount: '10.00', tax: '1.90', taxRate: '19', balance: '11.90' },
        { id: second, amount: '5.00', balance: '5.00' },
      ],
    });
    return { id, first, second, no: `INV-TEST-${number}` };
  };
  const notes = (id: string) => `/v1/invoices/${id}/credit-notes`;
  const balanceOf = async (id: string) =>
    (await tenant.get(`${external}/invoices/${id}`).expect(200)).body.balance as number;

  const refused: [
    name: string,
    body: (made: Awaited<ReturnType<typeof make>>) => object,
    status: number,
    text: string,
  ][] = [
    ['no reason', () => ({}), 400, 'reason'],
    ['an empty reason', () => ({ reason: '' }), 400, 'reason'],
    ['an unknown field', () => ({ reason: 'x', amount: 1 }), 400, 'Known are: reason, items.'],
    ['no items in the list', () => ({ reason: 'x', items: [] }), 400, 'items'],
    [
      'more items than may be',
      () => ({
        reason: 'x',
        items: Array.from({ length: 1_001 }, () => ({ itemId: newId(), amount: 1 })),
      }),
      400,
      'items',
    ],
    [
      'an amount of zero',
      ({ first }) => ({ reason: 'x', items: [{ itemId: first, amount: 0 }] }),
      400,
      'items[0].amount',
    ],
    [
      'an amount below zero',
      ({ first }) => ({ reason: 'x', items: [{ itemId: first, amount: -1 }] }),
      400,
      'items[0].amount',
    ],
    [
      'parts of a cent',
      ({ first }) => ({ reason: 'x', items: [{ itemId: first, amount: 0.001 }] }),
      400,
      'items[0].amount',
    ],
    [
      'an item that is none',
      () => ({ reason: 'x', items: [{ itemId: newId(), amount: 1 }] }),
      400,
      'items[0].itemId',
    ],
    [
      'an item twice',
      ({ first }) => ({
        reason: 'x',
        items: [
          { itemId: first, amount: 1 },
          { itemId: first, amount: 1 },
        ],
      }),
      400,
      'items[1].itemId',
    ],
    [
      'more than is left',
      ({ second }) => ({ reason: 'x', items: [{ itemId: second, amount: 5.01 }] }),
      409,
      'only 5.00 of the item',
    ],
  ];
  for (const [name, body, status, text] of refused) {
    // spec/beyond.md R68
    it(`refuses ${name}, and nothing is written`, async () => {
      const made = await make();
      const { body: fault } = await tenant.post(notes(made.id), body(made)).expect(status);
      expect(JSON.stringify(fault)).to.include(text);
      expect(await balanceOf(made.id)).to.equal(16.9);
    });
  }

  // spec/beyond.md R68
  it('refuses an item of another invoice', async () => {
    const [one, other] = [await make(), await make()];
    const items = [{ itemId: other.first, amount: 1 }];
    const { body } = await tenant.post(notes(one.id), { reason: 'x', items }).expect(400);
    expect(JSON.stringify(body)).to.include(`names no item of the invoice ${one.no}`);
  });

  // spec/beyond.md R70
  it('is 409 for what is no posted invoice, and 404 for none', async () => {
    const draft = await make({ invoiceStatus: 'Draft' });
    const note = await make({ invoiceType: 'Credit Note' });
    await tenant.post(notes(draft.id), { reason: 'x' }).expect(409);
    await tenant.post(notes(note.id), { reason: 'x' }).expect(409);
    await tenant.post(notes(newId()), { reason: 'x' }).expect(404);
  });

  // spec/beyond.md R4, R7, R11
  it('is a flow: under a key it is done once, by its name it is the same', async () => {
    const { id, no } = await make();
    const operator = await instance.tenant(['OPERATOR'], tenant.id);
    const body = { reason: 'The wrong price.' };
    const send = (given: object) =>
      operator.post(notes(no), given).set('Idempotency-Key', `credit ${no}`.replaceAll(' ', '-'));
    const { body: note } = await send(body).expect(201);
    expect(note).to.include({ amount: 15, taxAmount: 1.9, creditedInvoiceId: id, balance: 0 });
    expect((await send(body).expect(201)).body).to.deep.equal(note);
    await send({ reason: 'Another reason.' }).expect(409);
    const reader = await instance.tenant(['READER'], tenant.id);
    await reader.post(notes(id), body).expect(403);

    const { body: executions } = await tenant
      .get('/v1/workflows/credit-invoice/executions?limit=1')
      .expect(200);
    expect(executions.data[0]).to.include({ status: 'completed', workflowName: 'credit-invoice' });
    expect(executions.data[0].output.invoiceNo).to.equal(note.invoiceNo);
    const other = await make();
    const { body: executed } = await tenant
      .post('/v1/workflows/credit-invoice/execute', { data: { invoiceId: other.no, ...body } })
      .expect(200);
    expect(executed).to.include({ status: 'completed' });
    expect(await balanceOf(other.id)).to.equal(0);
    const { body: audit } = await tenant
      .get(`/v1/audit?entity=invoice&id=${other.id}&limit=1`)
      .expect(200);
    expect(audit.data[0].after).to.include({ balance: 0 });
  });

  // spec/beyond.md R230
  it('the notes against an invoice are listed, the latest first, void ones too', async () => {
    const [{ id, no, first, second }, other] = [await make(), await make()];
    const note = async (items: object[]): Promise<string> =>
      (await tenant.post(notes(id), { reason: 'x', items }).expect(201)).body.id;
    const one = await note([{ itemId: first, amount: 1 }]);
    const two = await note([{ itemId: second, amount: 2 }]);
    await tenant.post(notes(other.id), { reason: 'x' }).expect(201);
    await tenant.post(`/v1/invoices/${one}/void`, {}).expect(200);
    const { body } = await tenant.get(notes(no)).expect(200);
    expect(body.pagination).to.include({ total: 2 });
    const row = { creditedInvoiceId: id, invoiceType: 'Credit Note', accountName: 'Acme' };
    expect(body.data[0]).to.deep.include({ ...row, id: two, amount: 2, invoiceStatus: 'Posted' });
    expect(body.data[1]).to.deep.include({ ...row, id: one, amount: 1, invoiceStatus: 'Void' });
    const { body: page } = await tenant.get(`${notes(id)}?limit=1&offset=1`).expect(200);
    expect(page.data.map((each: { id: string }) => each.id)).to.deep.equal([one]);
    const reader = await instance.tenant(['READER'], tenant.id);
    await reader.get(notes(id)).expect(200);
    const stranger = await instance.tenant();
    await stranger.get(notes(id)).expect(404);
    await tenant.get(notes(newId())).expect(404);
    await tenant.get(`${notes(id)}?status=x`).expect(400);
  });

  // Three notes of 0.03 and one of 0.01: 0.02 x 0.03 / 0.10 = 0.006, which is 0.01.
  it('never credits more tax than there is, though cents were rounded up', async () => {
    const itemId = newId();
    const id = await storeInvoice(tenant.scope, {
      invoice: {
        invoiceNo: 'INV-CENTS',
        accountId,
        amount: '0.10',
        taxAmount: '0.02',
        balance: '0.12',
      },
      items: [{ id: itemId, amount: '0.10', tax: '0.02', taxRate: '19', balance: '0.12' }],
    });
    const taxes = [];
    for (const amount of [0.03, 0.03, 0.03, 0.01]) {
      const items = [{ itemId, amount }];
      const { body } = await tenant.post(notes(id), { reason: 'x', items }).expect(201);
      taxes.push(body.taxAmount);
    }
    expect(taxes).to.deep.equal([0.01, 0.01, 0, 0]);
    expect(await balanceOf(id)).to.equal(0);
  });

  // 10 - 4 = 6: crediting the first item alone would be more than the invoice.
  it('never credits more than the invoice where items are below zero', async () => {
    const [dear, rebate] = [newId(), newId()];
    const id = await storeInvoice(tenant.scope, {
      invoice: { invoiceNo: 'INV-REBATE', accountId, amount: '6', balance: '6' },
      items: [
        { id: dear, amount: '10', balance: '6' },
        { id: rebate, amount: '-4', balance: '0' },
      ],
    });
    const post = (items?: object[]) =>
      tenant.post(notes(id), { reason: 'x', ...(items ? { items } : {}) });
    const { body } = await post([{ itemId: dear, amount: 6.01 }]).expect(409);
    expect(JSON.stringify(body)).to.include(
      "Only 6.00 of the invoice 'INV-REBATE' is left to credit, with tax: 6.01 is more.",
    );
    await post([{ itemId: rebate, amount: 1 }]).expect(409);
    await post([{ itemId: dear, amount: 5 }]).expect(201);
    expect(await balanceOf(id)).to.equal(1);
    // All that is left: 5 - 4.
    const { body: last } = await post().expect(201);
    expect(last.items.map((item: { amount: number }) => item.amount)).to.deep.equal([5, -4]);
    expect(await balanceOf(id)).to.equal(0);
  });
});
