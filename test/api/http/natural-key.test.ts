import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import { waitUntilRated } from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('natural keys', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let accountId: string;
  let serviceId: string;
  let contractId: string;
  let invoiceId: string;

  before(async () => {
    const account = { name: 'First', externalId: 'first', number: 'A-1', defaultCurrency: 'USD' };
    ({
      body: { id: accountId },
    } = await tenant.post(`${external}/accounts`, account).expect(201));
    await tenant.post(`${external}/accounts`, { name: 'Other', externalId: 'other' }).expect(201);
    const row = {
      priceDimName: 'calls',
      label: 'Calls',
      priceMethod: 'QUANTITY',
      unitRate: 2,
      billingAccountId: 'first',
    };
    const service = {
      name: 'Calls of people',
      code: 'calls',
      currency: 'USD',
      priceableAttributes: [{ name: 'calls', dimensionDataType: 'Number' }],
      rateCards: [{ currency: 'USD', rows: [row] }],
    };
    ({
      body: { id: serviceId },
    } = await tenant.post(`${external}/services`, service).expect(201));
    const contract = {
      name: 'C',
      number: 'C-1',
      masterAccountId: 'first',
      currency: 'USD',
      startDate: '2026-01-01',
      services: [{ serviceId: 'calls' }],
    };
    ({
      body: { id: contractId },
    } = await tenant.post(`${external}/contracts`, contract).expect(201));
    const message = {
      externalTransactionId: 'n-1',
      serviceId,
      billingAccountRef: 'first',
      eventTimestamp: '2026-03-01T00:00:00Z',
      dimensions: { calls: '3' },
    };
    await tenant.post('/v1/ingest/usage', { message }).expect(200);
    await waitUntilRated(tenant, 1);
  });

  // spec/resources.md R22
  it('name the account of a billing run; an unknown one is 400 and starts nothing', async () => {
    const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const run = (account: string) =>
      tenant.post('/v1/workflows/billing-run/execute', { data: { ...period, accountId: account } });
    const { body: refused } = await run('third').expect(400);
    expect(refused.error.message).to.equal("'accountId' names no account: 'third'");
    const { body } = await run('first').expect(200);
    expect(body.output.invoiceCount).to.equal(1);
    [invoiceId = ''] = body.output.invoiceIds as string[];
  });

  // spec/resources.md R22; spec/beyond.md R11
  it('find records in paths; what is none is 404 as before', async () => {
    const { body: invoice } = await tenant.get(`${external}/invoices/${invoiceId}`).expect(200);
    const found: readonly (readonly [string, string])[] = [
      [`invoices/${invoice.invoiceNo}`, invoiceId],
      ['contracts/C-1', contractId],
      ['services/calls', serviceId],
      ['services/Calls%20of%20people', serviceId],
    ];
    for (const [path, id] of found) {
      const { body } = await tenant.get(`${external}/${path}`).expect(200);
      expect(body.id, path).to.equal(id);
    }
    const explained = await tenant.get(`/v1/invoices/${invoice.invoiceNo}/explain`).expect(200);
    expect(explained.body.invoiceId).to.equal(invoiceId);
    await tenant.get(`${external}/accounts/first/addresses`).expect(200);
    for (const path of ['invoices/INV-999999', 'contracts/none', 'services/none', 'wallets/none']) {
      const { body } = await tenant.get(`${external}/${path}`).expect(404);
      expect(body.message, path).to.match(/^There is no \w+ '/);
    }
  });

  // spec/beyond.md R11, R301
  it('choose of the journal; one that names no account is 400', async () => {
    for (const path of ['/v1/journal', '/v1/journal/trial-balance']) {
      await tenant.get(`${path}?accountId=first`).expect(200);
      const { body } = await tenant.get(`${path}?accountId=nobody`).expect(400);
      expect(body.error.details, path).to.include({ field: 'accountId' });
    }
  });

  // spec/resources.md R29
  it('of accounts are asked for with isExternal, and the answer says so', async () => {
    const { body } = await tenant.get(`${external}/accounts/first`).expect(404);
    expect(body.message).to.equal(
      "There is no account 'first'. An externalId is looked up with ?isExternal=true.",
    );
    await tenant.get(`${external}/accounts/first?isExternal=true`).expect(200);
  });

  // spec/beyond.md R11
  it('filter lists: invoices, usage, payments, contracts and wallets by account', async () => {
    const payment = {
      currency: 'USD',
      amount: 1,
      paymentDate: '2026-04-01',
      paymentMethod: 'Cash',
      paymentType: 'Pay In',
    };
    for (const [account, reference] of [['first', 'P-1'] as const, ['other', 'P-2'] as const]) {
      const given = { ...payment, accountId: account, paymentReference: reference };
      await tenant.post(`${external}/payments`, given).expect(201);
      await tenant
        .post(`${external}/wallets`, { title: `W ${account}`, accountId: account })
        .expect(201);
    }
    const { body: paid } = await tenant.get(`${external}/payments/P-1`).expect(200);
    expect(paid.accountId).to.equal(accountId);
    for (const list of ['payments', 'wallets', 'contracts', 'invoices', 'rated-transactions']) {
      for (const key of ['first', 'A-1', accountId]) {
        const { body } = await tenant.get(`${external}/${list}?accountId=${key}`).expect(200);
        const { content, totalElements } = body.data ?? body;
        expect([content.length, totalElements], `${list} ${key}`).to.deep.equal([1, 1]);
      }
      const { body } = await tenant.get(`${external}/${list}?accountId=third`).expect(400);
      expect(body.message).to.equal("'accountId' names no account: 'third'");
    }
    const events = await tenant.get('/v1/usage-events?accountId=first&serviceId=calls').expect(200);
    expect(events.body.data).to.have.length(1);
  });

  // spec/flows.md R5
  it('name what a flow is about, by its slug and by its name', async () => {
    const run = (slug: string, start: object) =>
      tenant.post(`${external}/run/billing/${slug}`, start);
    const { body: edited } = await run('account/edit', { id: 'first', net_term: 'Net 30' }).expect(
      200,
    );
    expect(edited.output).to.include({ id: accountId, netTerm: 'Net 30' });
    for (const [slug, start, id] of [
      ['contract/approve', { ID_Contract: 'C-1' }, contractId],
      ['service/edit', { id: 'calls', description: 'x' }, serviceId],
      ['account/approve', { ID_Account: 'A-1' }, accountId],
      ['payment/edit', { id: 'P-1', comments: 'x' }, undefined],
    ] as const) {
      const { body } = await run(slug, start).expect(200);
      if (id !== undefined) expect(body.output.id, slug).to.equal(id);
    }
    const data = { id: 'first', description: 'by name' };
    const { body } = await tenant.post('/v1/workflows/account-edit/execute', { data }).expect(200);
    expect(body.output).to.include({ id: accountId });
    const { body: refused } = await run('account/edit', { id: 'third' }).expect(400);
    expect(refused.message).to.equal("'id' names no account: 'third'");
  });

  it('name the contract and the service of a line, in both families', async () => {
    const { body: line } = await tenant
      .post(`${external}/contracts/C-1/services`, { serviceId: 'calls', serviceInstanceId: 'b' })
      .expect(201);
    expect(line).to.include({ serviceId, contractId });
    const dates = { startDate: '2027-01-01', endDate: '2027-12-31' };
    const { body: attached } = await tenant
      .post('/api/q2c-entity-services/CONTRACT', { parentId: 'C-1', serviceId: 'calls', ...dates })
      .expect(201);
    expect(attached.data).to.include({ serviceId, parentId: contractId });
  });
});
