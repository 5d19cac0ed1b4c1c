import { expect } from 'chai';
import { newId } from '../../src/kernel/id.js';
import { Account } from '../../src/models/account.js';
import { Attribute } from '../../src/models/attribute.js';
import { RateCard } from '../../src/models/rate-card.js';
import { Service } from '../../src/models/service.js';
import {
  approveService,
  calls,
  callsRow,
  card,
  logic,
  makeService,
  noSuchId,
  services,
  storage,
} from '../support/catalog.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/instance.js';

const names = (items: readonly { name: string }[]) => items.map(({ name }) => name);

const whole = {
  label: 'API',
  code: 'api',
  description: 'Calls and storage',
  currency: 'Euro',
  serviceType: 'usage',
  priceableAttributes: [
    { ...calls, isMeterDimension: true, meterResetFrequency: 'half yearly' },
    { ...storage, label: 'GB', isProration: false, dimValues: [{ label: 'One', value: '1' }] },
  ],
  inputAttributes: [{ name: 'seats', dimensionDataType: 'number' }],
  rateCards: [
    card(
      'usd',
      {
        priceDimName: 'API Calls',
        label: 'Calls',
        priceMethod: 'TIERED',
        resetFrequency: 'monthly',
        rateCardTiers: [
          { tierNum: 1, tierMinVal: 0, tierMaxVal: 100, tierUnitRate: 0 },
          { tierNum: 2, tierMinVal: 101, tierMaxVal: null, tierUnitRate: 0.5, flatRate: true },
        ],
      },
      {
        priceDimName: 'Storage',
        label: 'Storage',
        priceMethod: 'FLAT_RATE',
        flatRate: 2,
        usageType: 'payout',
        attributeValues: [{ attributeName: 'region', attributeValue: 'EU' }],
      },
    ),
    card('EUR', callsRow(0.25)),
  ],
  pricingLogic: [
    logic('Price(API Calls, seats) + region', { chargeType: 'usage' }),
    logic('1', { name: 'Second', usageType: 'payout' }),
  ],
};

describe('services', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance();
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  const versionOf = async (id: string) => {
    const query = Service.query(tenant.scope.db.read).forTenant(tenant.id);
    return Number((await query.findById(id))?.ratingVersion);
  };

  describe('POST', () => {
    it('creates a service with all its parts, under canonical names', async () => {
      const created = await makeService(tenant, whole);
      expect(created).to.include({ label: 'API', code: 'api', currency: 'EUR' });
      expect(created).to.include({ serviceType: 'Usage', serviceStatus: 'Active' });
      expect(created).to.include({ approvalStatus: 'Draft' });
      const { body } = await tenant.get(`${services}/${created.id}`).expect(200);
      expect(body).to.deep.equal(created);
      expect(names(body.priceableAttributes)).to.deep.equal(['API Calls', 'Storage']);
      expect(body.priceableAttributes[0]).to.include({
        isMeterDimension: true,
        isContractInput: false,
        isProration: null,
        meterResetFrequency: 'Half Yearly',
      });
      expect(body.priceableAttributes[1].dimValues).to.deep.equal([{ label: 'One', value: '1' }]);
      expect(names(body.inputAttributes)).to.deep.equal(['seats']);
      expect(body.rateCards.map((each: { currency: string }) => each.currency)).to.deep.equal([
        'EUR',
        'USD',
      ]);
      const [tiered, flat] = body.rateCards[1].rows;
      expect(tiered.priceDimId).to.equal(body.priceableAttributes[0].id);
      expect(tiered).to.not.have.any.keys('priceDimName', 'flatRate', 'unitRate');
      expect(tiered.resetFrequency).to.equal('Monthly');
      expect(tiered.rateCardTiers).to.deep.equal([
        { tierNum: 1, tierMinVal: 0, tierMaxVal: 100, tierUnitRate: 0 },
        { tierNum: 2, tierMinVal: 101, tierMaxVal: null, tierUnitRate: 0.5, flatRate: true },
      ]);
      expect(flat).to.include({ usageType: 'Payout', flatRate: 2 });
      expect(flat.attributeValues).to.deep.equal([
        { attributeName: 'region', attributeValue: 'EU' },
      ]);
      expect(body.pricingLogic).to.have.length(2);
      expect(body.pricingLogic[0]).to.include({ seqNo: 1, usageType: 'Charge' });
      expect(body.pricingLogic[0]).to.include({ chargeType: 'Usage' });
      expect(body.pricingLogic[1]).to.include({ seqNo: 2, usageType: 'Payout', chargeType: null });
    });

    it('takes null for every optional field', async () => {
      const created = await makeService(tenant, {
        ...{ label: null, code: null, description: null, currency: null, serviceType: null },
        ...{ serviceStatus: null, priceableAttributes: null, inputAttributes: null },
        ...{ rateCards: null, pricingLogic: null },
      });
      expect(created).to.include({ label: null, serviceType: 'Usage', serviceStatus: 'Active' });
      expect(created).to.deep.include({ priceableAttributes: [], rateCards: [], pricingLogic: [] });
    });

    it('refuses a name that is taken in the tenant, and no other', async () => {
      const { name } = await makeService(tenant);
      const { body } = await tenant.post(services, { name }).expect(409);
      expect(body).to.include({ status: 409, error: 'Conflict', path: `uri=${services}` });
      const other = await instance.tenant();
      await other.post(services, { name }).expect(201);
    });

    const refusals: [string, object, string][] = [
      ['a blank name', { name: ' ' }, "'name' must not be blank"],
      ['no name', { name: undefined }, "'name' is required"],
      ['an unknown property', { nam: 1 }, "'nam' is not a known property"],
      ['an unknown service type', { serviceType: 'Rent' }, 'Usage, Subscription, OTC'],
      ['an unknown currency', { currency: 'XXX' }, "'currency'"],
      [
        'an unknown property deep inside',
        { rateCards: [card('USD', callsRow(1), callsRow(1, { colour: 'red' }))] },
        "'rateCards[0].rows[1].colour' is not a known property",
      ],
      [
        'an unknown property of a tier',
        {
          rateCards: [
            card('USD', {
              ...{ priceDimName: 'API Calls', label: 'x', priceMethod: 'TIERED' },
              rateCardTiers: [
                { tierNum: 1, tierMinVal: 0, tierMaxVal: null, tierUnitRate: 1, unit: 'GB' },
              ],
            }),
          ],
        },
        "'rateCards[0].rows[0].rateCardTiers[0].unit' is not a known property",
      ],
      [
        'two attributes of one name',
        { priceableAttributes: [calls], inputAttributes: [storage, calls] },
        "'inputAttributes[1].name': there are two attributes named 'API Calls'",
      ],
      [
        'two cards of one currency',
        { rateCards: [card('USD', callsRow(1)), card('us dollar', callsRow(2))] },
        "'rateCards[1].currency' must not come twice: USD",
      ],
      [
        'a row that prices nothing known',
        { rateCards: [card('USD', callsRow(1, { priceDimName: 'seats' }))] },
        "'rateCards[0].rows[0].priceDimName' names no priceable attribute: seats",
      ],
      [
        'a formula that names nothing known',
        { pricingLogic: [logic('1'), logic('2 * nothing')] },
        "'pricingLogic[1].steps[0].formula': step 'total': 'nothing' is neither an earlier step " +
          'nor an attribute (character 5)',
      ],
    ];
    for (const [what, change, message] of refusals) {
      it(`refuses ${what} and writes nothing`, async () => {
        const name = `Refused ${what}`;
        const { body } = await tenant
          .post(services, { name, priceableAttributes: [calls], ...change })
          .expect(400);
        expect(body).to.include({ status: 400, error: 'Validation Error' });
        expect(body.message).to.include(message);
        await tenant.post(services, { name }).expect(201);
      });
    }
  });

  describe('GET', () => {
    it('shows the row with its collections as ?view=row', async () => {
      const { id, name } = await makeService(tenant, whole);
      const { body } = await tenant.get(`${services}/${id}?view=row`).expect(200);
      expect(body).to.include({ success: true, status: 200 });
      expect(body.data).to.include({ __type__: 'Service', Id: id, Name: name, Code: 'api' });
      expect(body.data.ApprovalStatus__r).to.deep.equal({ Name: 'Draft' });
      expect(body.data.Currency__r).to.deep.equal({ Name: 'EUR' });
      expect(body.data.RateCards).to.have.length(2);
      expect(body.data.PricingLogic[0].steps[0].name).to.equal('total');
      expect(body.data.PriceableAttributes[0].name).to.equal('API Calls');
      expect(body.data.InputAttributes[0].name).to.equal('seats');
    });

    it('answers 404 for an unknown or malformed id and 400 for an unknown view', async () => {
      await tenant.get(`${services}/${noSuchId}`).expect(404);
      await tenant.get(`${services}/nothing`).expect(404);
      const { id } = await makeService(tenant);
      await tenant.get(`${services}/${id}?view=column`).expect(400);
      const other = await instance.tenant();
      await other.get(`${services}/${id}`).expect(404);
    });

    it('lists rows of headers by name, code or label', async () => {
      const lister = await instance.tenant();
      for (const [name, code, label] of [
        ['b', 'C_1', 'first'],
        ['a', 'c%2', 'Second'],
        ['c', 'zz', 'third'],
      ]) {
        await lister.post(services, { name, code, label }).expect(201);
      }
      const list = async (query: string) => {
        const { body } = await lister.get(`${services}?${query}`).expect(200);
        return body.data;
      };
      const all = await list('');
      expect(all).to.include({ totalElements: 3, totalPages: 1, size: 20, number: 0 });
      expect(all.content.map((row: { Name: string }) => row.Name)).to.deep.equal(['a', 'b', 'c']);
      expect(all.content[0]).to.include({ __type__: 'Service', Label: 'Second', Code: 'c%2' });
      expect(all.content[0]).to.not.have.property('RateCards');
      expect((await list('q=c_')).content.map((row: { Name: string }) => row.Name)).to.deep.equal([
        'b',
      ]);
      expect((await list('q=SECOND')).totalElements).to.equal(1);
      expect((await list('q=%25')).totalElements).to.equal(1);
      expect((await list('page=1&size=2')).content).to.have.length(1);
      await lister.get(`${services}?size=x`).expect(400);
    });
  });

  describe('PUT', () => {
    it('changes what is given and leaves the rest', async () => {
      const created = await makeService(tenant, whole);
      const { body } = await tenant
        .put(`${services}/${created.id}`, { label: null, serviceStatus: 'inactive' })
        .expect(200);
      expect(body).to.deep.equal({ ...created, label: null, serviceStatus: 'Inactive' });
    });

    it('raises the version that rating looks at', async () => {
      const { id } = await makeService(tenant);
      const before = await versionOf(id);
      await tenant.put(`${services}/${id}`, { rateCards: [card('USD', callsRow(1))] }).expect(200);
      expect(await versionOf(id)).to.be.greaterThan(before);
    });

    it('takes back what GET gave', async () => {
      const { id } = await makeService(tenant, whole);
      const { text, body: before } = await tenant.get(`${services}/${id}`).expect(200);
      const { body: after } = await tenant.put(`${services}/${id}`, text).expect(200);
      const withoutIds = (value: unknown) =>
        JSON.parse(
          JSON.stringify(value, (key, inner: unknown) =>
            key === 'id' || key === 'priceDimId' ? undefined : inner,
          ),
        );
      expect(withoutIds(after)).to.deep.equal(withoutIds(before));
      expect(after.rateCards[0].rows[0].priceDimId).to.equal(after.priceableAttributes[0].id);
      expect(after.priceableAttributes[0].id).to.not.equal(before.priceableAttributes[0].id);
    });

    it('removes the cards first when attributes and cards come, approved or not', async () => {
      const { id } = await makeService(tenant, whole);
      await approveService(tenant, id);
      const change = { priceableAttributes: [storage], rateCards: [] };
      const { body } = await tenant
        .put(`${services}/${id}`, { ...change, inputAttributes: [], pricingLogic: [] })
        .expect(200);
      expect(body.rateCards).to.deep.equal([]);
      expect(names(body.priceableAttributes)).to.deep.equal(['Storage']);
      const row = { priceDimName: 'Storage', label: 'GB', priceMethod: 'NO_PRICE' };
      const again = await tenant
        .put(`${services}/${id}`, { ...change, rateCards: [card('USD', row)] })
        .expect(200);
      expect(again.body.rateCards[0]).to.include({ versionNo: 1, isCurrent: true });
    });

    it('points the rows of current cards to the new attribute of the same name', async () => {
      const created = await makeService(tenant, whole);
      const { body } = await tenant
        .put(`${services}/${created.id}`, { priceableAttributes: [storage, calls] })
        .expect(200);
      expect(names(body.priceableAttributes)).to.deep.equal(['Storage', 'API Calls']);
      const [storageId, callsId] = body.priceableAttributes.map(({ id }: { id: string }) => id);
      expect(body.rateCards[0].rows[0].priceDimId).to.equal(callsId);
      expect(body.rateCards[1].rows[1].priceDimId).to.equal(storageId);
      expect(body.rateCards[1].versionNo).to.equal(1);
    });

    it('refuses to drop an attribute that a current row prices', async () => {
      const created = await makeService(tenant, whole);
      const { body } = await tenant
        .put(`${services}/${created.id}`, { priceableAttributes: [calls] })
        .expect(409);
      expect(body.message).to.include("'Storage'");
      const unchanged = await tenant.get(`${services}/${created.id}`).expect(200);
      expect(unchanged.body).to.deep.equal(created);
    });

    it('refuses to drop an attribute that a formula names, unless the logic comes too', async () => {
      const { id } = await makeService(tenant, whole);
      const { body } = await tenant.put(`${services}/${id}`, { inputAttributes: [] }).expect(409);
      expect(body.message).to.include("'Charge'").and.include("'seats'");
      const bad = { inputAttributes: [], pricingLogic: [logic('seats')] };
      await tenant.put(`${services}/${id}`, bad).expect(400);
      const good = { inputAttributes: [], pricingLogic: [logic('2')] };
      const changed = await tenant.put(`${services}/${id}`, good).expect(200);
      expect(changed.body.pricingLogic).to.have.length(1);
      expect(changed.body.pricingLogic[0]).to.include({ seqNo: 1, name: 'Charge' });
    });

    it('lets a name move between the kinds, but not come twice', async () => {
      const { id } = await makeService(tenant, {
        priceableAttributes: [calls],
        inputAttributes: [storage],
      });
      await tenant.put(`${services}/${id}`, { inputAttributes: [calls] }).expect(409);
      const { body } = await tenant
        .put(`${services}/${id}`, { priceableAttributes: [storage], inputAttributes: [calls] })
        .expect(200);
      expect(names(body.priceableAttributes)).to.deep.equal(['Storage']);
      expect(names(body.inputAttributes)).to.deep.equal(['API Calls']);
    });

    it('replaces the cards of a draft and makes versions on an approved service', async () => {
      const cards = [card('USD', callsRow(1)), card('EUR', callsRow(2))];
      const { id } = await makeService(tenant, { priceableAttributes: [calls], rateCards: cards });
      const put = async (...rateCards: object[]) => {
        const { body } = await tenant.put(`${services}/${id}`, { rateCards }).expect(200);
        return body.rateCards.map(
          (each: { currency: string; versionNo: number; rows: { unitRate: number }[] }) =>
            `${each.currency} ${each.versionNo} ${each.rows[0]?.unitRate}`,
        );
      };
      expect(await put(card('USD', callsRow(3)), card('GBP', callsRow(4)))).to.deep.equal([
        'GBP 1 4',
        'USD 1 3',
      ]);
      await approveService(tenant, id);
      expect(await put(card('USD', callsRow(5)), card('EUR', callsRow(6)))).to.deep.equal([
        'EUR 1 6',
        'USD 2 5',
      ]);
      await tenant.get(`${services}/${id}/rate-cards/GBP`).expect(404);
      const { body } = await tenant.get(`${services}/${id}/rate-cards/USD/versions`).expect(200);
      expect(body.totalElements).to.equal(2);
    });

    it('minds the exception cards that price attributes of the catalog', async () => {
      const { id } = await makeService(tenant, { priceableAttributes: [calls, storage] });
      const account = await tenant.post(`${external}/accounts`, { name: 'Minded' }).expect(201);
      const line = {
        serviceId: id,
        priceableAttributes: [storage],
        rateCards: [card('USD', callsRow(1), callsRow(2, { priceDimName: 'Storage' }))],
      };
      const contract = { name: 'Minded', masterAccountId: account.body.id, services: [line] };
      const { body: made } = await tenant.post(`${external}/contracts`, contract).expect(201);
      const lineAddress = `${external}/contract-services/${made.services[0].id}`;
      const ratingVersion = async () => {
        const query = Account.query(tenant.scope.db.read).forTenant(tenant.id);
        return Number((await query.findById(String(account.body.id)))?.ratingVersion);
      };
      const before = await ratingVersion();
      const put = (...priceableAttributes: object[]) =>
        tenant.put(`${services}/${id}`, { priceableAttributes });
      const { body: refused } = await put(storage).expect(409);
      expect(refused.message).to.include("'API Calls'");
      const { body } = await put(calls).expect(200);
      const { body: after } = await tenant.get(lineAddress).expect(200);
      const [callsRowAfter, storageRowAfter] = after.rateCards[0].rows;
      expect(callsRowAfter.priceDimId).to.equal(body.priceableAttributes[0].id);
      expect(storageRowAfter.priceDimId).to.equal(after.priceableAttributes[0].id);
      expect(await ratingVersion()).to.be.greaterThan(before);
    });

    it('needs no more queries for many rows than for few', async () => {
      const names = Array.from({ length: 50 }, (_, index) => `Dimension ${index}`);
      const big = {
        priceableAttributes: names.map((name) => ({ ...calls, name })),
        rateCards: ['USD', 'EUR', 'GBP', 'JPY', 'CHF'].map((currency) =>
          card(
            currency,
            ...names.flatMap((priceDimName) => [
              callsRow(1, { priceDimName }),
              callsRow(2, { priceDimName }),
            ]),
          ),
        ),
      };
      const { read } = tenant.scope.db;
      const count = async (work: () => Promise<unknown>) => {
        let queries = 0;
        const add = () => (queries += 1);
        read.on('query', add);
        await work();
        read.removeListener('query', add);
        return queries;
      };
      const small = await makeService(tenant, {
        priceableAttributes: [calls],
        rateCards: [card('USD', callsRow(1))],
      });
      const { id } = await makeService(tenant, big);
      const address = (serviceId: string) => `${services}/${serviceId}`;
      const get = (serviceId: string) => count(() => tenant.get(address(serviceId)).expect(200));
      expect(await get(id))
        .to.equal(await get(small.id))
        .and.be.greaterThan(0);
      const put = async (serviceId: string) => {
        const { text } = await tenant.get(address(serviceId)).expect(200);
        return count(() => tenant.put(address(serviceId), text).expect(200));
      };
      expect(await put(id))
        .to.equal(await put(small.id))
        .and.be.greaterThan(0);
    });

    it('answers 404, 409 for a taken name and 400 for null as name', async () => {
      const { id } = await makeService(tenant);
      const { name } = await makeService(tenant);
      await tenant.put(`${services}/${noSuchId}`, {}).expect(404);
      await tenant.put(`${services}/${id}`, { name }).expect(409);
      await tenant.put(`${services}/${id}`, { name: null }).expect(400);
      await tenant.put(`${services}/${id}`, { name: `${name} changed` }).expect(200);
    });
  });

  describe('DELETE', () => {
    it('hides the service with its parts, keeps the rows, and frees the name', async () => {
      const { id, name } = await makeService(tenant, whole);
      await tenant.delete(`${services}/${id}`).expect(204, '');
      await tenant.get(`${services}/${id}`).expect(404);
      await tenant.get(`${services}/${id}/rate-cards`).expect(404);
      await tenant.delete(`${services}/${id}`).expect(404);
      await tenant.post(services, { name }).expect(201);
      const db = tenant.scope.db.read;
      const cards = await RateCard.query(db).forTenant(tenant.id).where({ serviceId: id });
      const attributes = await Attribute.query(db).forTenant(tenant.id).where({ serviceId: id });
      expect(cards).to.have.length(2);
      // Two priceable, one input, and the transaction dimension of the pricing logic.
      expect(attributes).to.have.length(4);
      expect([...cards, ...attributes].every(({ deletedAt }) => deletedAt !== null)).to.equal(true);
    });

    it('refuses while a contract service is of it', async () => {
      const { id } = await makeService(tenant);
      const account = await tenant.post(`${external}/accounts`, { name: 'A' }).expect(201);
      const { db } = tenant.scope;
      const ids = { contract: newId(), line: newId() };
      const [tenantId, accountId] = [tenant.id, String(account.body.id)];
      await db.read('contract').insert({
        ...{ tenantId, id: ids.contract, number: 'C-1', masterAccountId: accountId },
      });
      await db.read('contractService').insert({
        ...{ tenantId, id: ids.line, contractId: ids.contract, serviceId: id },
      });
      await tenant.delete(`${services}/${id}`).expect(409);
      await tenant.get(`${services}/${id}`).expect(200);
      await db.read('contractService').where({ id: ids.line }).update({ deletedAt: new Date() });
      await tenant.delete(`${services}/${id}`).expect(204);
    });
  });
});
