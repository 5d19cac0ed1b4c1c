import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  event,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const path = `${external}/rated-transactions`;

describe('rated transactions', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let acme: string;
  let serviceId: string;
  before(async () => {
    acme = await createAccount(tenant, 'acme', { number: 'A-1' });
    await createAccount(tenant, 'other');
    serviceId = await createService(tenant, 'Calls');
    for (const [index, day] of ['03-10', '03-12', '03-11', '03-12', '04-01'].entries()) {
      await send(
        tenant,
        usage(index === 4 ? 'other' : 'acme', serviceId, {
          externalTransactionId: `tran-${index}`,
          eventTimestamp: `2026-${day}T23:59:59.999Z`,
        }),
      );
    }
    await waitUntilRated(tenant, 5);
  });

  const list = async (query: string) => {
    const { body } = await tenant.get(`${path}?${query}`).expect(200);
    expect(body).to.include({ success: true, status: 200 });
    return body.data as { content: Record<string, unknown>[]; totalElements: number };
  };
  const ids = async (query: string) =>
    (await list(query)).content.map((row) => row['ExternalTranId']);

  // spec/resources.md R85
  it('are listed as rows, the latest transaction date first', async () => {
    const { content, totalElements } = await list('');
    expect(totalElements).to.equal(5);
    expect(content.map((row) => row['TransactionDate'])).to.deep.equal([
      '2026-04-01',
      '2026-03-12',
      '2026-03-12',
      '2026-03-11',
      '2026-03-10',
    ]);
    expect(content[4]).to.include({
      __type__: 'RatedTransaction',
      ExternalTranId: 'tran-0',
      AccountId: acme,
      ServiceId: serviceId,
      Amount: 1,
      AccountNumber: 'A-1',
      Billed: false,
      Discount: 0,
      TaxAmount: 0,
      Quantity: 100,
    });
    expect(content[4]?.['Currency__r']).to.deep.equal({ Name: 'USD' });
    expect(content[4]?.['UsageType__r']).to.deep.equal({ Name: 'Charge' });
    expect(content[4]).to.not.have.property('Dimensions');
  });

  // spec/resources.md R85
  it('are found by account, dates and part of the external id', async () => {
    expect(await ids(`accountId=${acme}`)).to.have.length(4);
    expect(await ids('fromDate=2026-03-11&toDate=2026-03-12')).to.have.members([
      'tran-1',
      'tran-2',
      'tran-3',
    ]);
    expect(await ids('fromDate=2026-03-12&toDate=2026-03-12')).to.have.members([
      'tran-1',
      'tran-3',
    ]);
    expect(await ids('q=AN-4')).to.deep.equal(['tran-4']);
    expect(await ids('q=%25')).to.deep.equal([]);
    expect(await ids('size=2&page=1')).to.have.length(2);
    expect(await ids('accountId=0190a000-0000-7000-8000-000000000000')).to.deep.equal([]);
  });

  for (const query of ['fromDate=2026-03-12&toDate=2026-03-11', 'fromDate=x', 'accountId=1']) {
    // spec/resources.md R85
    it(`refuse ${query}`, async () => {
      const { body } = await tenant.get(`${path}?${query}`).expect(400);
      expect(body).to.include({ status: 400, error: 'Validation Error' });
    });
  }

  // spec/resources.md R86
  it('are shown with their dimensions, flat and as a row', async () => {
    const shown = await event(tenant, 'tran-0');
    const [charge] = shown.ratedTransactions;
    const { body } = await tenant.get(`${path}/${charge.id as string}`).expect(200);
    expect(charge).to.deep.include(body);
    expect(body).to.include({ masterAccountId: acme, convCurrency: 'USD', contractId: null });
    expect(body.dimensions).to.have.length(1);
    expect(body.dimensions[0]).to.include({
      transactionId: body.id,
      dimensionName: 'api_calls',
      volume: 100,
      rate: 0.01,
      calcAmount: 1,
      currency: 'USD',
      priceMethodType: 'QUANTITY',
      itemType: 'Usage',
      billStartDate: '2026-03-10',
      billEndDate: '2026-03-10',
      isProrated: false,
    });
    const row = await tenant.get(`${path}/${body.id as string}?view=row`).expect(200);
    expect(row.body.data).to.include({ __type__: 'RatedTransaction', Id: body.id, Amount: 1 });
    expect(row.body.data.Dimensions).to.deep.equal(body.dimensions);
  });

  it('are 404 when there is none, and for another tenant', async () => {
    const shown = await event(tenant, 'tran-0');
    const other = await instance.tenant();
    await other.get(`${path}/${shown.ratedTransactions[0].id as string}`).expect(404);
    await tenant.get(`${path}/${shown.id as string}`).expect(404);
    await tenant.get(`${path}/none`).expect(404);
    expect((await other.get(path).expect(200)).body.data.totalElements).to.equal(0);
  });

  // docs/decisions/0323
  it('are found by any part of any external id, and never by what is between two', async () => {
    const odd = ['Ab"c\\d', 'é,1', '100%_x', 'line\nend', '\u001e[]', 'Straße 7'];
    await createAccount(tenant, 'odd');
    const messages = odd.map((externalTransactionId) =>
      usage('odd', serviceId, { externalTransactionId }),
    );
    await tenant
      .post(
        '/v1/ingest/usage/batch',
        messages.map((message) => ({ message })),
      )
      .expect(200);
    await waitUntilRated(tenant, 11);
    const found = (q: string) => ids(`q=${encodeURIComponent(q)}`);
    for (const id of odd) expect(await found(id), id).to.deep.equal([id]);
    expect(await found('aB"C\\')).to.deep.equal(['Ab"c\\d']);
    expect(await found('STRA')).to.deep.equal(['Straße 7']);
    expect(await found('_')).to.deep.equal(['100%_x']);
    for (const none of ['","', '", "', '\\n', '["', 'u001e']) expect(await found(none)).to.be.empty;
    expect(await found(`tran-`)).to.have.length(5);
  });
});
