import { expect } from 'chai';
import { Account } from '../../../src/models/accounts/account.js';
import { Service } from '../../../src/models/catalog/service.js';
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
  whole,
  names,
} from '../../support/billing/catalog.js';
import { allStatements, external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('PUT of a service', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const versionOf = async (id: string) => {
    const query = Service.query(tenant.scope.db.read).forTenant(tenant.id);
    return Number((await query.findById(id))?.ratingVersion);
  };

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

  // spec/resources.md R17
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

  // spec/resources.md R39
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

  // spec/resources.md R19
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
    const read = allStatements(tenant.scope);
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
    const forFew = await put(small.id);
    expect(forFew).to.be.greaterThan(0);
    // 500 rows of cards are five inserts of a hundred.
    expect(await put(id)).to.equal(forFew + 4);
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
