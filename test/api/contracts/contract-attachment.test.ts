import { expect } from 'chai';
import { dayFromToday } from '../../support/billing/catalog.js';
import {
  contracts,
  flatCard,
  lines,
  makeAccount,
  makeService,
  noSuchId,
  ratingVersion,
} from '../../support/billing/contracts.js';
import { external } from '../../support/servers/instance.js';
import { createAccount, createService, rate, tiers, usage } from '../../support/billing/usage.js';
import { without } from '../../support/http/without.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const address = '/api/q2c-entity-services/CONTRACT';
const period = { startDate: '2026-01-01', endDate: '2026-12-31' };

describe('services attached to contracts', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  /** A contract in USD and a service with the dimensions Calls, Seats, Region and Customer. */
  const make = async (service: object = {}, contract: object = { currency: 'USD' }) => {
    const masterAccountId = await makeAccount(tenant);
    const serviceId = await makeService(tenant, service);
    const { body } = await tenant.post(contracts, { masterAccountId, ...contract }).expect(201);
    const parentId = body.id as string;
    return { masterAccountId, serviceId, parentId, right: { parentId, serviceId, ...period } };
  };
  const attach = async (body: object) => (await tenant.post(address, body).expect(201)).body.data;
  const picklistId = async (name: string, value: string): Promise<string> => {
    const { body } = await tenant.get(`/v1/picklists/${name}`).expect(200);
    return body.data.find((one: { name: string }) => one.name === value).id;
  };

  // spec/platform.md R1, R4
  it('are lines with the dimensions and the list prices of their service', async () => {
    const { masterAccountId, right, parentId, serviceId } = await make();
    const before = await ratingVersion(tenant, masterAccountId);
    const { body, headers } = await tenant.post(address, right).expect(201);
    expect(body).to.include({ success: true, status: 201, requestId: headers['x-request-id'] });
    expect(body.errors).to.deep.equal([]);
    const { data } = body;
    expect(data).to.include({ parentId, serviceId, ...period, exceptionPricing: true });
    expect(data).to.include({ billAccountShares: null, dimensionValues: null });
    expect(await ratingVersion(tenant, masterAccountId)).to.be.above(before);
    expect(data.priceableAttributes.map((one: { name: string }) => one.name)).to.deep.equal([
      'Calls',
      'Seats',
    ]);
    expect(data.rateCards).to.have.length(1);
    expect(data.rateCards[0]).to.include({ currency: 'USD', versionNo: 1, isCurrent: true });
    expect(data.rateCards[0].rows).to.have.length(1);
    expect(data.rateCards[0].rows[0]).to.include({
      label: 'Calls',
      priceMethod: 'FLAT_RATE',
      flatRate: 10,
      priceDimId: data.priceableAttributes[0].id,
    });

    // It is an ordinary line of the resource API.
    const { body: line } = await tenant.get(`${lines}/${data.id}`).expect(200);
    const { parentId: contractId, billAccountShares, subscriptionChargeType, ...shared } = data;
    expect(subscriptionChargeType).to.equal(null);
    expect(line).to.deep.equal({ ...shared, contractId, accountMap: billAccountShares });
    const { body: list } = await tenant.get(`${address}/parent/${parentId}`).expect(200);
    expect(list).to.include({ success: true, status: 200 });
    const header = without(data, 'priceableAttributes', 'rateCards');
    expect(list.data).to.deep.equal([header]);
  });

  // spec/platform.md R2, R5
  it('have the shares, values and frequencies that they are given, by id or name', async () => {
    const { right, masterAccountId } = await make();
    const second = await makeAccount(tenant);
    const data = await attach({
      ...right,
      billAccountShares: { [masterAccountId.toUpperCase()]: 33.3, [second]: 66.7 },
      dimensionValues: { Calls: 1500, Region: 'eu', Customer: 'c-1' },
      chargeFrequency: await picklistId('chargeFrequency', 'Monthly'),
      billingFrequency: 'quarterly',
      subscriptionChargeType: await picklistId('subscriptionChargeType', 'In Arrears'),
    });
    expect(data).to.include({
      chargeFrequency: 'Monthly',
      billingFrequency: 'Quarterly',
      subscriptionChargeType: 'In Arrears',
    });
    expect(data.billAccountShares).to.deep.equal({ [masterAccountId]: 33.3, [second]: 66.7 });
    expect(data.dimensionValues).to.deep.equal({ Calls: 1500, Region: 'eu', Customer: 'c-1' });
    const texts = data.priceableAttributes.map(
      (one: { name: string; dimensionValText: string | null }) => [one.name, one.dimensionValText],
    );
    expect(texts).to.deep.equal([
      ['Calls', '1500'],
      ['Seats', null],
    ]);
    const { body: line } = await tenant.get(`${lines}/${data.id}`).expect(200);
    expect(line.accountMap).to.deep.equal(data.billAccountShares);
    expect(line).to.deep.include({ dimensionValues: data.dimensionValues });
  });

  it('keep every digit of a share', async () => {
    const { right, masterAccountId } = await make();
    const share = '12345678901234567890.123456789012345678';
    const text = JSON.stringify(right).replace(
      /\}$/,
      `,"billAccountShares":{"${masterAccountId}":${share}}}`,
    );
    const { text: answer } = await tenant.post(address, text).expect(201);
    expect(answer).to.include(`"billAccountShares":{"${masterAccountId}":${share}}`);
    const list = await tenant.get(`${address}/parent/${right.parentId}`).expect(200);
    expect(list.text).to.include(`"billAccountShares":{"${masterAccountId}":${share}}`);
  });

  // spec/platform.md R4
  it('copy the prices in the currency that their usage is rated in, if there are any', async () => {
    const cards = { rateCards: [flatCard('EUR', 1), flatCard('USD', 2), flatCard('JPY', 3)] };
    const pricesOf = async (service: object, contract: object, account: object = {}) => {
      const masterAccountId = await makeAccount(tenant, { name: 'Customer', ...account });
      const { serviceId } = await make(service);
      const { body } = await tenant.post(contracts, { masterAccountId, ...contract }).expect(201);
      const data = await attach({ parentId: body.id, serviceId, ...period });
      return data.rateCards.map((card: { currency: string }) => card.currency);
    };
    expect(await pricesOf(cards, { currency: 'EUR' })).to.deep.equal(['EUR']);
    expect(await pricesOf(cards, {}, { defaultCurrency: 'JPY' })).to.deep.equal(['JPY']);
    expect(await pricesOf({ ...cards, currency: 'USD' }, {})).to.deep.equal(['USD']);
    expect(await pricesOf(cards, {})).to.deep.equal([]);
    expect(await pricesOf(cards, { currency: 'GBP' })).to.deep.equal([]);
  });

  // spec/platform.md R1
  it('change in what is given, and the data of an answer may be sent back', async () => {
    const { right, masterAccountId } = await make();
    const second = await makeAccount(tenant);
    const made = await attach({
      ...right,
      billAccountShares: { [masterAccountId]: 1 },
      dimensionValues: { Calls: 5, Region: 'eu' },
      billingFrequency: 'Monthly',
    });
    const item = `${address}/${made.id}`;
    const put = async (body: object) => (await tenant.put(item, body).expect(200)).body.data;
    expect(await put({})).to.deep.equal(made);
    expect(await put(made)).to.deep.equal(made);
    const before = await ratingVersion(tenant, masterAccountId);
    const changed = await put({
      endDate: '2027-06-30',
      billingFrequency: await picklistId('billingFrequency', 'Yearly'),
      billAccountShares: { [second]: 0.5 },
      dimensionValues: { Seats: '7' },
      subscriptionChargeType: 'in advance',
    });
    expect(changed).to.deep.include({
      startDate: '2026-01-01',
      endDate: '2027-06-30',
      billingFrequency: 'Yearly',
      billAccountShares: { [second]: 0.5 },
      dimensionValues: { Seats: '7' },
      subscriptionChargeType: 'In Advance',
    });
    const texts = (data: { priceableAttributes: { dimensionValText: string | null }[] }) =>
      data.priceableAttributes.map((one) => one.dimensionValText);
    expect(texts(made)).to.deep.equal(['5', null]);
    expect(texts(changed)).to.deep.equal([null, '7']);
    expect(await ratingVersion(tenant, masterAccountId)).to.be.above(before);
    const none = { billAccountShares: null, dimensionValues: null };
    const cleared = await put({ ...none, billingFrequency: null, subscriptionChargeType: null });
    expect(cleared).to.include({ ...none, billingFrequency: null, subscriptionChargeType: null });
    expect(texts(cleared)).to.deep.equal([null, null]);
    expect(cleared.rateCards).to.deep.equal(made.rateCards);
  });

  // spec/platform.md R6
  it('go with their dimensions and prices', async () => {
    const { right, parentId } = await make();
    const { id } = await attach(right);
    await tenant.delete(`${address}/${id}`).expect(204, '');
    await tenant.get(`${lines}/${id}`).expect(404);
    const { body } = await tenant.get(`${address}/parent/${parentId}`).expect(200);
    expect(body.data).to.deep.equal([]);
    const left = await tenant.scope.db
      .read('attribute')
      .where({ contractServiceId: id })
      .whereNull('deletedAt');
    expect(left).to.deep.equal([]);
    const cards = await tenant.scope.db
      .read('rateCard')
      .where({ contractServiceId: id })
      .whereNull('deletedAt');
    expect(cards).to.deep.equal([]);
    await tenant.delete(`${address}/${id}`).expect(404);
    await tenant.put(`${address}/${id}`, {}).expect(404);
  });

  // spec/platform.md R5
  it('are refused when wrong', async () => {
    const { right, masterAccountId, parentId } = await make();
    const made = await attach(right);
    const other = await instance.tenant();
    const foreign = await makeAccount(other);
    const shares = (value: unknown) => ({ billAccountShares: value });
    const values = (value: unknown) => ({ dimensionValues: value });
    const faults: [change: object, message: string][] = [
      [{ parentId: noSuchId }, "'parentId'"],
      [{ serviceId: noSuchId }, "'serviceId'"],
      [{ startDate: null }, "'startDate'"],
      [{ endDate: null }, "'endDate'"],
      [{ endDate: '2025-12-31' }, "'endDate' (2025-12-31) is before 'startDate' (2026-01-01)"],
      [{ endDate: '2026-02-30' }, "'endDate'"],
      [shares([]), "'billAccountShares'"],
      [shares({ [noSuchId]: 1 }), `'billAccountShares.${noSuchId}' names no account`],
      [shares({ [foreign]: 1 }), 'names no account'],
      [shares({ acme: 1 }), "'billAccountShares'"],
      [shares({ [masterAccountId]: 0 }), `'billAccountShares.${masterAccountId}' must be > 0`],
      [shares({ [masterAccountId]: -1 }), 'must be > 0'],
      [shares({ [masterAccountId]: '50' }), 'must be a number'],
      [shares({ [masterAccountId]: null }), 'must be a number'],
      [shares({ [masterAccountId]: 1, [masterAccountId.toUpperCase()]: 1 }), 'must not come twice'],
      [values([]), "'dimensionValues' must be an object"],
      [values({ Colour: 'red' }), "'dimensionValues.Colour' names no dimension of the service"],
      [values({ Calls: 'many' }), "'dimensionValues.Calls' must be a number"],
      [values({ Calls: true }), "'dimensionValues.Calls' must be a number"],
      [values({ Region: null }), "'dimensionValues.Region' must be a text"],
      [values({ Region: { eu: 1 } }), "'dimensionValues.Region' must be a text"],
      [values({ Region: 'x'.repeat(256) }), 'at most 255 characters'],
      [{ chargeFrequency: 'Hourly' }, "'chargeFrequency' 'Hourly' must be one of: Daily"],
      [
        { billingFrequency: await picklistId('chargeFrequency', 'Monthly') },
        "' must be one of: Daily, Weekly",
      ],
      [
        { subscriptionChargeType: 'Never' },
        "'subscriptionChargeType' 'Never' must be one of: In Advance",
      ],
      [{ colour: 'red' }, "'colour' is not a known property"],
    ];
    for (const [change, message] of faults) {
      const posted = await tenant.post(address, { ...right, ...change }).expect(400);
      expect(posted.body).to.include({ status: 400, error: 'Validation Error' });
      expect(posted.body.message).to.include(message);
      const changed = await tenant.put(`${address}/${made.id}`, change).expect(400);
      expect(changed.body.message).to.include(Object.keys(change)[0]);
    }
    for (const name of ['parentId', 'serviceId', 'startDate', 'endDate']) {
      const { body } = await tenant.post(address, { ...right, [name]: undefined }).expect(400);
      expect(body.message).to.equal(`'${name}' is required`);
    }
    const { body } = await tenant.get(`${address}/parent/${parentId}`).expect(200);
    expect(body.data).to.have.length(1);
    const header = without(made, 'priceableAttributes', 'rateCards');
    expect(body.data[0]).to.deep.equal(header);
  });

  it('take values of each type of dimension', async () => {
    const typed = ['Number', 'Boolean', 'Date', 'String'].map((dimensionDataType) => ({
      name: `a ${dimensionDataType}`,
      dimensionDataType,
    }));
    const { right } = await make({
      priceableAttributes: typed,
      inputAttributes: [],
      rateCards: [],
      pricingLogic: [],
    });
    const dimensionValues = {
      'a Number': '1.50',
      'a Boolean': true,
      'a Date': '2026-02-28',
      'a String': 7,
    };
    const data = await attach({ ...right, dimensionValues });
    expect(data.dimensionValues).to.deep.equal(dimensionValues);
    expect(
      data.priceableAttributes.map((one: { dimensionValText: string }) => one.dimensionValText),
    ).to.deep.equal(['1.50', 'true', '2026-02-28', '7']);
    for (const [name, value] of [
      ['a Number', '1,5'],
      ['a Boolean', 'yes'],
      ['a Date', '2026-02-29'],
    ] as const) {
      const { body } = await tenant
        .post(address, { ...right, dimensionValues: { [name]: value } })
        .expect(400);
      expect(body.message).to.include(`'dimensionValues.${name}'`);
    }
  });

  it('show whatever shares the resource API gave the line', async () => {
    const { serviceId, parentId } = await make();
    const accountMap = { anyone: 'half', [noSuchId]: '0.50' };
    await tenant.post(`${contracts}/${parentId}/services`, { serviceId, accountMap }).expect(201);
    const { body } = await tenant.get(`${address}/parent/${parentId}`).expect(200);
    expect(body.data[0]).to.deep.include({
      billAccountShares: { anyone: 'half', [noSuchId]: 0.5 },
      exceptionPricing: false,
    });
  });

  // spec/platform.md R6
  it('are of their contract and tenant', async () => {
    const { right, parentId } = await make();
    const { id } = await attach(right);
    const stranger = await instance.tenant();
    await stranger.post(address, right).expect(400);
    await stranger.get(`${address}/parent/${parentId}`).expect(404);
    await stranger.put(`${address}/${id}`, {}).expect(404);
    await stranger.delete(`${address}/${id}`).expect(404);
    await tenant.get(`${address}/parent/${noSuchId}`).expect(404);
    await tenant.get(`${address}/parent/nonsense`).expect(404);
    await tenant.put(`${address}/nonsense`, {}).expect(404);
    const weak = await instance.tenant(['TENANTADMIN']);
    await weak.post(address, right).expect(403);
  });

  it('are rated by the copied prices, also after the list price changed', async () => {
    const accountId = await createAccount(tenant, 'copied-prices');
    // Per call: 1,000 free, then 0.02.
    const row = { priceDimName: 'api_calls', label: 'API calls' };
    const listPrice = (unitRate: number) => ({
      currency: 'USD',
      rows: [{ ...row, ...tiers([0, 1000, 0], [1000, null, unitRate]) }],
    });
    const serviceId = await createService(tenant, 'Copied prices', {
      rateCards: [listPrice(0.02)],
    });
    const { body: contract } = await tenant
      .post(contracts, { masterAccountId: accountId, currency: 'USD' })
      .expect(201);
    const days = { startDate: dayFromToday(-1), endDate: dayFromToday(365) };
    const line = await attach({ parentId: contract.id, serviceId, ...days });
    const event = (calls: string) =>
      usage('copied-prices', serviceId, {
        eventTimestamp: new Date().toISOString(),
        dimensions: { api_calls: calls },
      });
    const amountOf = async (calls: string) => {
      const rated = await rate(tenant, event(calls));
      expect(rated.status).to.equal('rated');
      const [{ amount, explanation }] = rated.ratedTransactions;
      return { amount: String(amount), card: explanation.card };
    };
    // 1,500 calls: 1,000 free, 500 x 0.02 = 10.
    const first = await amountOf('1500');
    expect(first.amount).to.equal('10');
    expect(first.card).to.include({ source: 'exception', versionNo: 1 });

    const card = `${external}/services/${serviceId}/rate-cards/USD`;
    await tenant.put(card, listPrice(0.05)).expect(200);
    const second = await amountOf('1500');
    expect(second.amount).to.equal('10');
    expect(second.card).to.include({ source: 'exception', versionNo: 1 });

    // Copied again: 500 x 0.05 = 25.
    await tenant
      .post('/api/service-price-matrix/contract/copy-from-service', {
        q2cEntityServiceId: line.id,
        sourceServiceId: serviceId,
        currencyId: 'USD',
      })
      .expect(200);
    const third = await amountOf('1500');
    expect(third.amount).to.equal('25');
    expect(third.card).to.include({ source: 'exception', versionNo: 2 });
  });
});
