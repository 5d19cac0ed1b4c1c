import { expect } from 'chai';
import {
  calls,
  callsRow,
  card,
  makeService,
  noSuchId,
  services,
  storage,
} from '../../support/billing/catalog.js';
import { contracts, lines, makeAccount, ratingVersion } from '../../support/billing/contracts.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { without } from '../../support/http/without.js';

const address = '/api/service-price-matrix';

/** A row of every price method. */
const everyMethod = [
  { priceDimName: 'API Calls', label: 'Setup', priceMethod: 'FLAT_RATE', flatRate: 12.5 },
  {
    priceDimName: 'API Calls',
    label: 'Tiers',
    priceMethod: 'TIERED',
    resetFrequency: 'Monthly',
    attributeValues: [{ attributeName: 'region', attributeValue: 'eu' }],
    rateCardTiers: [
      { tierNum: 1, tierMinVal: 0, tierMaxVal: 100, tierUnitRate: 0, flatRate: false },
      { tierNum: 2, tierMinVal: 100, tierMaxVal: null, tierUnitRate: 0.5, flatRate: false },
    ],
  },
  { priceDimName: 'API Calls', label: 'Each', priceMethod: 'QUANTITY', unitRate: 0.125 },
  { priceDimName: 'Storage', label: 'Share', priceMethod: 'AMOUNT', percentageRate: 2.5 },
  { priceDimName: 'Storage', label: 'Free', priceMethod: 'NO_PRICE', usageType: 'Payout' },
];

describe('price matrices copied from a service', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  const currencyIds: Record<string, string> = {};
  before(async () => {
    instance = await openTestInstance();
    tenant = await instance.tenant();
    const { body } = await tenant.get(`${external}/currencies?size=100&page=1`).expect(200);
    const { body: first } = await tenant.get(`${external}/currencies`).expect(200);
    for (const { id, code } of [...first.content, ...body.content]) currencyIds[code] = id;
  });
  after(() => instance.close());

  const id = (code: string): string => currencyIds[code] ?? '';
  const make = (fields: object = {}) =>
    makeService(tenant, { priceableAttributes: [calls, storage], ...fields });
  const rowsOf = (answer: { data: { rows: Record<string, unknown>[] } }, field: string) =>
    answer.data.rows.map((row) => row[field]);
  /** A line with attributes of its own, copied from its service, and no exception prices. */
  const makeLine = async (serviceId: string) => {
    const masterAccountId = await makeAccount(tenant);
    const { body } = await tenant
      .post(contracts, { masterAccountId, currency: 'USD', services: [{ serviceId }] })
      .expect(201);
    const lineId = body.services[0].id as string;
    const line = await tenant.get(`${lines}/${lineId}`).expect(200);
    return { masterAccountId, lineId, attributes: line.body.priceableAttributes };
  };
  const copy = (body: object) => tenant.post(`${address}/contract/copy-from-service`, body);

  it("become the line's own prices, row for row, for the line's own attributes", async () => {
    const { id: serviceId } = await make({ rateCards: [card('USD', ...everyMethod)] });
    const { lineId, attributes } = await makeLine(serviceId);
    const body = { q2cEntityServiceId: lineId, sourceServiceId: serviceId, currencyId: 'USD' };
    const { body: copied } = await copy(body).expect(200);
    expect(copied).to.include({ success: true, status: 200 });
    expect(copied.data).to.include({
      contractSvcId: lineId,
      currencyId: id('USD'),
      versionNo: 1,
    });
    const list = await tenant.get(`${services}/${serviceId}/rate-cards/USD`).expect(200);
    const prices = (rows: Record<string, unknown>[]) =>
      rows.map((row) => without(row, 'id', 'priceDimId'));
    expect(prices(copied.data.rows)).to.deep.equal(prices(list.body.rows));
    const [ofCalls, ofStorage] = attributes.map((one: { id: string }) => one.id);
    expect(rowsOf(copied, 'priceDimId')).to.deep.equal([
      ofCalls,
      ofCalls,
      ofCalls,
      ofStorage,
      ofStorage,
    ]);
    const again = await tenant.get(`${lines}/${lineId}`).expect(200);
    expect(again.body.rateCards).to.have.length(1);
  });

  it('replace exception prices by a new version, in that currency only', async () => {
    const { id: serviceId } = await make({ rateCards: [card('USD', callsRow(2))] });
    const { masterAccountId, lineId } = await makeLine(serviceId);
    for (const currencyId of ['USD', 'EUR']) {
      const own = { contractSvcId: lineId, currencyId, priceMatrixRows: [callsRow(9)] };
      await tenant.post(`${address}/contract/insert`, own).expect(201);
    }
    const before = await ratingVersion(tenant, masterAccountId);
    const { body } = await copy({
      q2cEntityServiceId: lineId,
      sourceServiceId: serviceId,
      currencyId: id('USD'),
    }).expect(200);
    expect(body.data).to.include({ versionNo: 2, isCurrent: true });
    expect(rowsOf(body, 'unitRate')).to.deep.equal([2]);
    expect(await ratingVersion(tenant, masterAccountId)).to.be.above(before);
    const euro = await tenant
      .get(`${address}/contract/${lineId}?currencyId=${id('EUR')}`)
      .expect(200);
    expect(rowsOf(euro.body, 'unitRate')).to.deep.equal([9]);
  });

  it('may come from another service whose attributes have the same names', async () => {
    const { id: sold } = await make();
    const { id: source } = await make({ rateCards: [card('USD', callsRow(5))] });
    const { lineId, attributes } = await makeLine(sold);
    const { body } = await copy({
      q2cEntityServiceId: lineId,
      sourceServiceId: source,
      currencyId: 'USD',
    }).expect(200);
    expect(rowsOf(body, 'priceDimId')).to.deep.equal([attributes[0].id]);
    const { id: foreign } = await makeService(tenant, {
      priceableAttributes: [{ name: 'Other', dimensionDataType: 'Number' }],
      rateCards: [card('USD', callsRow(5, { priceDimName: 'Other' }))],
    });
    const { body: refused } = await copy({
      q2cEntityServiceId: lineId,
      sourceServiceId: foreign,
      currencyId: 'USD',
    }).expect(400);
    expect(refused.message).to.include("'sourceServiceId'").and.include("'Other'");
  });

  it('are refused where there is nothing to copy, or nowhere to copy it', async () => {
    const { id: serviceId } = await make({ rateCards: [card('USD', callsRow(2))] });
    const { lineId } = await makeLine(serviceId);
    const right = { q2cEntityServiceId: lineId, sourceServiceId: serviceId, currencyId: 'USD' };
    const { body: none } = await copy({ ...right, currencyId: id('EUR') }).expect(404);
    expect(none).to.include({ status: 404, error: 'Not Found' });
    expect(none.message).to.include('EUR');
    for (const [change, message] of [
      [{ q2cEntityServiceId: noSuchId }, "'q2cEntityServiceId'"],
      [{ sourceServiceId: noSuchId }, "'sourceServiceId'"],
      [{ currencyId: noSuchId }, "'currencyId'"],
      [{ q2cEntityServiceId: undefined }, "'q2cEntityServiceId' is required"],
      [{ sourceServiceId: undefined }, "'sourceServiceId' is required"],
      [{ currencyId: undefined }, "'currencyId' is required"],
      [{ versions: 1 }, "'versions' is not a known property"],
    ] as const) {
      const { body } = await copy({ ...right, ...change }).expect(400);
      expect(body.message).to.include(message);
    }
    const line = await tenant.get(`${lines}/${lineId}`).expect(200);
    expect(line.body).to.include({ exceptionPricing: false });
    const stranger = await instance.tenant();
    await stranger.post(`${address}/contract/copy-from-service`, right).expect(400);
  });
});
