import { expect } from 'chai';
import { invoicesOf, runBilling } from '../../support/billing/billing-run.js';
import { external } from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const path = '/v1/tax-rates';

describe('tax rates', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });

  it('are made, listed by code, changed and deleted', async () => {
    const vat = (await tenant.post(path, { code: 'VAT', rate: 19, name: 'VAT' }).expect(201)).body;
    await tenant.post(path, { code: 'GST', rate: 18.5 }).expect(201);
    const list = await tenant.get(`${path}?limit=1`).expect(200);
    expect(list.body.data).to.have.length(1);
    expect(list.body.data[0]).to.include({ code: 'GST', rate: 18.5, name: null });
    expect(list.body.pagination.total).to.equal(2);
    const changed = await tenant.put(`${path}/${vat.id}`, { rate: 7, name: null }).expect(200);
    expect(changed.body).to.deep.equal({ ...vat, rate: 7, name: null });
    await tenant.put(`${path}/${vat.id}`, { code: 'GST' }).expect(409);
    await tenant.delete(`${path}/${vat.id}`).expect(204);
    await tenant.delete(`${path}/${vat.id}`).expect(404);
    await tenant.put(`${path}/${vat.id}`, { rate: 8 }).expect(404);
    await tenant.post(path, { code: 'VAT', rate: 20 }).expect(201);
  });

  for (const [name, body] of [
    ['no code', { rate: 1 }],
    ['no rate', { code: 'A' }],
    ['a negative rate', { code: 'A', rate: -1 }],
    ['a rate above 1000', { code: 'A', rate: 1000.01 }],
    ['an unknown field', { code: 'A', rate: 1, country: 'DE' }],
  ] as const) {
    it(`${name} is refused`, async () => {
      const { body: answer } = await tenant.post(path, body).expect(400);
      expect(answer.error.code).to.equal('VALIDATION_ERROR');
    });
  }

  it('a code that is taken is refused, a bad page too', async () => {
    await tenant.post(path, { code: 'VAT', rate: 1 }).expect(201);
    await tenant.post(path, { code: 'VAT', rate: 2 }).expect(409);
    await tenant.get(`${path}?limit=x`).expect(400);
    const { body } = await tenant.get(path).expect(200);
    await tenant.put(`${path}/${body.data[0].id}`, { rate: 'x' }).expect(400);
  });

  it('are those of their code in any letter case, of which there is one', async () => {
    await tenant.post(path, { code: 'Vat', rate: 10 }).expect(201);
    const { body } = await tenant.post(path, { code: 'VAT', rate: 20 }).expect(409);
    expect(body.error.message).to.equal(
      "'code' 'VAT' differs from that of the tax rate 'Vat' by letter case alone.",
    );
    const { body: other } = await tenant.post(path, { code: 'GST', rate: 5 }).expect(201);
    await tenant.put(`${path}/${other.id}`, { code: 'vat' }).expect(409);
    await tenant.put(`${path}/${other.id}`, { code: 'gst' }).expect(200);
    await createAccount(tenant, 'acme');
    const row = { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY', unitRate: 1 };
    const serviceId = await createService(tenant, 'Calls', {
      rateCards: [{ currency: 'USD', rows: [{ ...row, taxCode: 'VAT' }] }],
    });
    await send(tenant, usage('acme', serviceId, { dimensions: { api_calls: '30' } }));
    await waitUntilRated(tenant, 1);
    const output = await runBilling(tenant, '2026-03-01', '2026-03-31');
    // 30 at 10 percent.
    expect((await invoicesOf(tenant, output))[0]).to.include({ amount: 30, taxAmount: 3 });
    expect(output.problems).to.deep.equal([]);
  });

  // spec/rating.md R54
  it('tax the rounded amount of an item, once: 101 x 0.01 = 1.01, 19 % = 0.1919 = 0.19', async () => {
    await tenant.post(path, { code: 'VAT', rate: 19 }).expect(201);
    await createAccount(tenant, 'acme');
    const row = { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY' };
    const service = await createService(tenant, 'Calls', {
      rateCards: [{ currency: 'USD', rows: [{ ...row, unitRate: 0.01, taxCode: 'VAT' }] }],
    });
    await send(tenant, usage('acme', service, { dimensions: { api_calls: '101' } }));
    await waitUntilRated(tenant, 1);
    const [invoice] = await invoicesOf(
      tenant,
      await runBilling(tenant, '2026-03-01', '2026-03-31'),
    );
    expect(invoice).to.include({ amount: 1.01, taxAmount: 0.19, balance: 1.2 });
    const explained = await tenant.get(`/v1/invoices/${invoice?.id}/explain`).expect(200);
    expect(explained.body.items[0]).to.include({ taxCode: 'VAT', taxRate: 19, tax: 0.19 });
    const list = await tenant.get(`${external}/invoices`).expect(200);
    expect(list.body.data.content).to.have.length(1);
  });
});
