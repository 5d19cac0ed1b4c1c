import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { Attribute } from '../../../src/models/catalog/attribute.js';
import { RateCard } from '../../../src/models/catalog/rate-card.js';
import {
  calls,
  callsRow,
  card,
  logic,
  makeService,
  noSuchId,
  services,
  storage,
  whole,
  names,
} from '../../support/billing/catalog.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('services', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  describe('POST', () => {
    // spec/resources.md R23, R36 to R38, R43
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

    // spec/resources.md R37
    it('takes null for every optional field', async () => {
      const created = await makeService(tenant, {
        label: null,
        code: null,
        description: null,
        currency: null,
        serviceType: null,
        serviceStatus: null,
        priceableAttributes: null,
        inputAttributes: null,
        rateCards: null,
        pricingLogic: null,
      });
      expect(created).to.include({ label: null, serviceType: 'Usage', serviceStatus: 'Active' });
      expect(created).to.deep.include({ priceableAttributes: [], rateCards: [], pricingLogic: [] });
    });

    // spec/resources.md R35
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
              priceDimName: 'API Calls',
              label: 'x',
              priceMethod: 'TIERED',
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
      // spec/resources.md R36, R42
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
    // spec/resources.md R8, R38
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

    // spec/resources.md R20
    it('answers 404 for an unknown or malformed id and 400 for an unknown view', async () => {
      await tenant.get(`${services}/${noSuchId}`).expect(404);
      await tenant.get(`${services}/nothing`).expect(404);
      const { id } = await makeService(tenant);
      await tenant.get(`${services}/${id}?view=column`).expect(400);
      const other = await instance.tenant();
      await other.get(`${services}/${id}`).expect(404);
    });

    // spec/resources.md R7
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

  describe('DELETE', () => {
    // spec/resources.md R26, R40
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

    // spec/resources.md R40
    it('refuses while a contract service is of it', async () => {
      const { id } = await makeService(tenant);
      const account = await tenant.post(`${external}/accounts`, { name: 'A' }).expect(201);
      const { db } = tenant.scope;
      const ids = { contract: newId(), line: newId() };
      const [tenantId, accountId] = [tenant.id, String(account.body.id)];
      await db
        .read('contract')
        .insert({ tenantId, id: ids.contract, number: 'C-1', masterAccountId: accountId });
      await db
        .read('contractService')
        .insert({ tenantId, id: ids.line, contractId: ids.contract, serviceId: id });
      await tenant.delete(`${services}/${id}`).expect(409);
      await tenant.get(`${services}/${id}`).expect(200);
      await db.read('contractService').where({ id: ids.line }).update({ deletedAt: new Date() });
      await tenant.delete(`${services}/${id}`).expect(204);
    });
  });
});
