import { expect } from 'chai';
import {
  approveService,
  calls,
  callsRow,
  card,
  makeService,
  noSuchId,
  services,
  storage,
} from '../../support/billing/catalog.js';
import { contracts, lines, makeAccount, ratingVersion } from '../../support/billing/contracts.js';
import { external } from '../../support/servers/instance.js';
import { without } from '../../support/http/without.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const address = '/api/service-price-matrix';

/** A row of every price method. */
const everyMethod = [
  {
    priceDimName: 'API Calls',
    label: 'Setup',
    priceMethod: 'FLAT_RATE',
    flatRate: 12.5,
    attributeValues: [{ attributeName: 'region', attributeValue: 'us' }],
  },
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
  {
    priceDimName: 'Storage',
    label: 'Free',
    priceMethod: 'NO_PRICE',
    usageType: 'Payout',
    attributeValues: [{ attributeName: 'region', attributeValue: 'us' }],
  },
];

// spec/platform.md R2, R3, R7 to R9
describe('price matrices', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const currencyIds: Record<string, string> = {};
  before(async () => {
    const { body } = await tenant.get(`${external}/currencies?size=100&page=1`).expect(200);
    const { body: first } = await tenant.get(`${external}/currencies`).expect(200);
    for (const { id, code } of [...first.content, ...body.content]) currencyIds[code] = id;
  });

  const id = (code: string): string => currencyIds[code] ?? '';
  const make = (fields: object = {}) =>
    makeService(tenant, {
      priceableAttributes: [{ ...calls, isMeterDimension: true }, storage],
      ...fields,
    });
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

  describe('of a service', () => {
    it('are its rate cards: rows of every method by id or name', async () => {
      const service = await make();
      const { body: whole } = await tenant.get(`${services}/${service.id}`).expect(200);
      const [first] = whole.priceableAttributes;
      const byId = without(everyMethod[0] ?? {}, 'priceDimName');
      const priceMatrixRows = [{ ...byId, priceDimId: first.id }, ...everyMethod.slice(1)];
      const { body, headers } = await tenant
        .post(`${address}/insert`, {
          serviceId: service.id,
          currencyId: id('USD'),
          priceMatrixRows,
        })
        .expect(201);
      expect(body).to.include({ success: true, status: 201, requestId: headers['x-request-id'] });
      expect(body.errors).to.deep.equal([]);
      expect(body.data).to.include({
        serviceId: service.id,
        currencyId: id('USD'),
        currency: 'USD',
        versionNo: 1,
        isCurrent: true,
      });
      expect(rowsOf(body, 'priceMethod')).to.deep.equal([
        'FLAT_RATE',
        'TIERED',
        'QUANTITY',
        'AMOUNT',
        'NO_PRICE',
      ]);
      expect(rowsOf(body, 'priceDimId')[0]).to.equal(first.id);
      expect(body.data.rows[1].rateCardTiers).to.have.length(2);

      const found = await tenant
        .get(`${address}/${service.id}?currencyId=${id('USD')}`)
        .expect(200);
      expect(found.body.data).to.deep.equal(body.data);
      const { body: plain } = await tenant
        .get(`${services}/${service.id}/rate-cards/USD`)
        .expect(200);
      expect(plain).to.deep.equal(without(body.data, 'serviceId', 'currencyId'));
    });

    it('name their currency by id, code or name', async () => {
      const { id: serviceId } = await make();
      const priceMatrixRows = [callsRow(1)];
      for (const [currencyId, code] of [
        [id('JPY').toUpperCase(), 'JPY'],
        ['eur', 'EUR'],
        ['US Dollar', 'USD'],
      ] as const) {
        const body = { serviceId, currencyId, priceMatrixRows };
        const answer = await tenant.post(`${address}/insert`, body).expect(201);
        expect(answer.body.data).to.include({ currency: code, currencyId: id(code) });
        const query = `currencyId=${encodeURIComponent(currencyId)}`;
        const found = await tenant.get(`${address}/${serviceId}?${query}`).expect(200);
        expect(found.body.data.currency).to.equal(code);
      }
      const { body } = await tenant.get(`${address}/currencies?serviceId=${serviceId}`).expect(200);
      expect(body).to.include({ success: true, status: 200 });
      expect(body.data.map((one: { code: string }) => one.code)).to.deep.equal([
        'EUR',
        'JPY',
        'USD',
      ]);
      expect(body.data[2]).to.deep.equal({
        id: id('USD'),
        code: 'USD',
        name: 'US Dollar',
        symbol: '$',
      });
    });

    it('are replaced in place on a draft, and as a new version on an approved service', async () => {
      const { id: serviceId } = await make({ rateCards: [card('USD', callsRow(1), callsRow(2))] });
      const put = async (unitRate: number) =>
        (
          await tenant
            .put(`${address}/update`, {
              serviceId,
              currencyId: id('USD'),
              priceMatrixRows: [callsRow(unitRate)],
            })
            .expect(200)
        ).body;
      const draft = await put(3);
      expect(draft.data).to.include({ versionNo: 1, isCurrent: true, serviceId });
      expect(rowsOf(draft, 'unitRate')).to.deep.equal([3]);
      await approveService(tenant, serviceId);
      const approved = await put(4);
      expect(approved.data).to.include({ versionNo: 2, isCurrent: true });
      expect(rowsOf(approved, 'unitRate')).to.deep.equal([4]);
      const versions = await tenant
        .get(`${services}/${serviceId}/rate-cards/USD/versions`)
        .expect(200);
      expect(versions.body.totalElements).to.equal(2);
      // Every field of a PUT may be left out: without rows nothing changes.
      const same = await tenant
        .put(`${address}/update`, { serviceId, currencyId: 'USD' })
        .expect(200);
      expect(same.body.data).to.deep.equal(approved.data);
    });

    it('are refused when wrong', async () => {
      const { id: serviceId } = await make({ rateCards: [card('USD', callsRow(1))] });
      const right = { serviceId, currencyId: id('EUR'), priceMatrixRows: [callsRow(1)] };
      const taken = { ...right, currencyId: id('USD') };
      const { body: conflict } = await tenant.post(`${address}/insert`, taken).expect(409);
      expect(conflict).to.include({
        status: 409,
        error: 'Conflict',
        path: `uri=${address}/insert`,
      });
      const missing = await tenant.put(`${address}/update`, right).expect(404);
      expect(missing.body.message).to.include('EUR');
      const both = { ...callsRow(1), flatRate: 1 };
      const faults: [change: object, field: string][] = [
        [{ serviceId: undefined }, "'serviceId' is required"],
        [{ serviceId: noSuchId }, "'serviceId'"],
        [{ currencyId: undefined }, "'currencyId' is required"],
        [{ currencyId: noSuchId }, "'currencyId'"],
        [{ currencyId: 'doubloon' }, "'currencyId'"],
        [{ priceMatrixRows: [] }, "'priceMatrixRows'"],
        [{ priceMatrixRows: null }, "'priceMatrixRows'"],
        [{ priceMatrixRows: [both] }, "'priceMatrixRows[0].flatRate'"],
        [{ priceMatrixRows: [callsRow(1, { label: undefined })] }, "'priceMatrixRows[0].label'"],
        [
          { priceMatrixRows: [callsRow(1), callsRow(1, { priceDimName: 'No' })] },
          "'priceMatrixRows[1].priceDimName'",
        ],
        [
          { priceMatrixRows: [callsRow(1, { priceDimId: noSuchId })] },
          'priceMatrixRows[0].priceDimId',
        ],
        [{ rows: [] }, "'rows' is not a known property"],
      ];
      for (const [change, message] of faults) {
        for (const send of [
          tenant.post(`${address}/insert`, { ...right, ...change }),
          tenant.put(`${address}/update`, { ...taken, ...change }),
        ]) {
          const { body } = await send.expect(400);
          expect(body.error).to.equal('Validation Error');
          expect(body.message).to.include(message);
        }
      }
      const noRows = { serviceId, currencyId: id('EUR') };
      await tenant.post(`${address}/insert`, noRows).expect(400);
      await tenant.put(`${address}/update`, noRows).expect(404);
      const { body } = await tenant.get(`${services}/${serviceId}`).expect(200);
      expect(body.rateCards).to.have.length(1);
      expect(body.rateCards[0].rows[0].unitRate).to.equal(1);
    });

    it('are not found where there are none', async () => {
      const { id: serviceId } = await make({ rateCards: [card('USD', callsRow(1))] });
      await tenant.get(`${address}/${serviceId}?currencyId=${id('EUR')}`).expect(404);
      await tenant.get(`${address}/${noSuchId}?currencyId=${id('USD')}`).expect(404);
      await tenant.get(`${address}/nonsense?currencyId=${id('USD')}`).expect(404);
      const { body } = await tenant.get(`${address}/${serviceId}`).expect(400);
      expect(body.message).to.equal("'currencyId' is required");
      await tenant.get(`${address}/${serviceId}?currencyId=x`).expect(400);
      await tenant.get(`${address}/currencies?serviceId=${noSuchId}`).expect(404);
      await tenant.get(`${address}/currencies?serviceId=x`).expect(400);
      await tenant.get(`${address}/currencies`).expect(400);
      const { id: bare } = await make();
      const none = await tenant.get(`${address}/currencies?serviceId=${bare}`).expect(200);
      expect(none.body.data).to.deep.equal([]);
      const stranger = await instance.tenant();
      await stranger.get(`${address}/${serviceId}?currencyId=${id('USD')}`).expect(404);
      await stranger.get(`${address}/currencies?serviceId=${serviceId}`).expect(404);
    });
  });

  describe('of a contract service', () => {
    it('are its exception cards, and every update makes a version', async () => {
      const service = await make();
      const { masterAccountId, lineId, attributes } = await makeLine(service.id);
      const before = await ratingVersion(tenant, masterAccountId);
      const right = { contractSvcId: lineId, currencyId: id('USD') };
      const { body } = await tenant
        .post(`${address}/contract/insert`, { ...right, priceMatrixRows: everyMethod })
        .expect(201);
      expect(body.data).to.include({ ...right, currency: 'USD', versionNo: 1, isCurrent: true });
      expect(rowsOf(body, 'priceDimId')[0]).to.equal(attributes[0].id);
      const query = `${address}/contract/${lineId}?currencyId=${id('USD')}`;
      const found = await tenant.get(query).expect(200);
      expect(found.body.data).to.deep.equal(body.data);
      const inserted = await ratingVersion(tenant, masterAccountId);
      expect(inserted).to.be.above(before);

      const priceMatrixRows = [callsRow(7)];
      const put = await tenant
        .put(`${address}/contract/update`, { ...right, priceMatrixRows })
        .expect(200);
      expect(put.body.data).to.include({ versionNo: 2, isCurrent: true });
      expect(rowsOf(put.body, 'unitRate')).to.deep.equal([7]);
      expect(await ratingVersion(tenant, masterAccountId)).to.be.above(inserted);
      const same = await tenant.put(`${address}/contract/update`, right).expect(200);
      expect(same.body.data).to.deep.equal(put.body.data);
      const line = await tenant.get(`${lines}/${lineId}`).expect(200);
      expect(line.body.exceptionPricing).to.equal(true);
      expect(line.body.rateCards[0].rows[0].unitRate).to.equal(7);
    });

    it('are refused when wrong', async () => {
      const { id: serviceId } = await make({ rateCards: [card('USD', callsRow(1))] });
      const { lineId } = await makeLine(serviceId);
      const right = {
        contractSvcId: lineId,
        currencyId: id('USD'),
        priceMatrixRows: [callsRow(1)],
      };
      const put = () => tenant.put(`${address}/contract/update`, right);
      await put().expect(404);
      await tenant.get(`${address}/contract/${lineId}?currencyId=${id('USD')}`).expect(404);
      await tenant.post(`${address}/contract/insert`, right).expect(201);
      await tenant.post(`${address}/contract/insert`, right).expect(409);
      for (const [change, message] of [
        [{ contractSvcId: noSuchId }, "'contractSvcId': There is no contract service"],
        [{ contractSvcId: undefined }, "'contractSvcId' is required"],
        [{ currencyId: 'x' }, "'currencyId'"],
        [{ priceMatrixRows: [] }, "'priceMatrixRows'"],
        [
          { priceMatrixRows: [callsRow(1, { priceDimName: 'No' })] },
          "'priceMatrixRows[0].priceDimName'",
        ],
      ] as const) {
        const wrong = { ...right, currencyId: id('USD'), ...change };
        const posted = await tenant.post(`${address}/contract/insert`, wrong).expect(400);
        expect(posted.body.message).to.include(message);
        const changed = await tenant.put(`${address}/contract/update`, wrong).expect(400);
        expect(changed.body.message).to.include(message);
      }
      const stranger = await instance.tenant();
      await stranger.post(`${address}/contract/insert`, right).expect(400);
      await stranger.put(`${address}/contract/update`, right).expect(400);
      await stranger.get(`${address}/contract/${lineId}?currencyId=${id('USD')}`).expect(404);
      await tenant.get(`${address}/contract/${noSuchId}?currencyId=${id('USD')}`).expect(404);
      await tenant.get(`${address}/contract/${lineId}`).expect(400);
    });
  });

  it('need the role ADMIN', async () => {
    const weak = await instance.tenant(['TENANTADMIN']);
    await weak.get(`${address}/${noSuchId}`).expect(403);
    await weak.post(`${address}/insert`, {}).expect(403);
    await weak.put(`${address}/contract/update`, {}).expect(403);
  });
});
