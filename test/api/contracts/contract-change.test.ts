import { expect } from 'chai';
import {
  contracts,
  flatCard,
  makeAccount,
  makeService,
  noSuchId,
  ratingVersion,
} from '../../support/billing/contracts.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('changes of contracts', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let masterAccountId: string;
  let serviceId: string;
  before(async () => {
    masterAccountId = await makeAccount(tenant, { name: 'Master', externalId: 'master/1' });
    serviceId = await makeService(tenant);
  });

  const create = async (body: object) =>
    (await tenant.post(contracts, { masterAccountId, ...body }).expect(201)).body;

  describe('update', () => {
    // spec/resources.md R17, R19
    it('takes back what it gave, with new lines of the same content', async () => {
      const body = await create({
        name: 'Trip',
        startDate: '2024-01-01',
        totalPrice: 0.1,
        currency: 'INR',
        services: [{ serviceId, terminationDate: '2024-05-01', serviceInstanceId: 'trip' }],
      });
      const { body: put } = await tenant
        .put(`${contracts}/${body.id}`, { ...body, name: 'Trip 2' })
        .expect(200);
      const [line] = put.services;
      expect(line.id).to.not.equal(body.services[0].id);
      expect(put).to.deep.equal({
        ...body,
        name: 'Trip 2',
        services: [{ ...body.services[0], id: line.id }],
      });
      const { body: got } = await tenant.get(`${contracts}/${body.id}`).expect(200);
      expect(got).to.deep.equal(put);
    });

    it('keeps of a line that is sent back what the contract does not show of it', async () => {
      const attribute = { name: 'Own', dimensionDataType: 'Number', dimensionValText: '7' };
      const ownCard = {
        currency: 'USD',
        rows: [{ label: 'Own', priceDimName: 'Own', priceMethod: 'QUANTITY', unitRate: 0.25 }],
      };
      const body = await create({
        services: [
          {
            serviceId,
            serviceInstanceId: 'kept',
            terminationMessage: 'Moved',
            chargeFrequency: 'Monthly',
            billingFrequency: 'Quarterly',
            dimensionValues: { x: '1' },
            accountMap: { a: 1 },
            priceableAttributes: [attribute],
            rateCards: [ownCard],
          },
          { serviceId, rateCards: [flatCard('EUR', 3)] },
        ],
      });
      const path = `${contracts}/${body.id}`;
      const lineOf = async (index: number, { services } = body) =>
        (await tenant.get(`${path}/services/${services[index].id}`).expect(200)).body;
      const [own, flat] = [await lineOf(0), await lineOf(1)];
      const { body: put } = await tenant.put(path, { ...body, name: 'Edited' }).expect(200);
      expect(put.services).to.deep.equal(
        put.services.map(({ id }: { id: string }, index: number) => ({
          ...body.services[index],
          id,
        })),
      );
      const keptOwn = await lineOf(0, put);
      const [{ id: attributeId }] = keptOwn.priceableAttributes;
      const [card] = keptOwn.rateCards;
      expect(attributeId).to.not.equal(own.priceableAttributes[0].id);
      expect(card.rows[0].priceDimId).to.equal(attributeId);
      expect(keptOwn).to.deep.equal({
        ...own,
        id: put.services[0].id,
        priceableAttributes: [{ ...own.priceableAttributes[0], id: attributeId }],
        rateCards: [
          {
            ...own.rateCards[0],
            rows: [{ ...own.rateCards[0].rows[0], id: card.rows[0].id, priceDimId: attributeId }],
          },
        ],
      });
      expect((await lineOf(1, put)).rateCards[0].rows[0]).to.include({ flatRate: 3 });
      expect(flat.rateCards).to.have.length(1);

      // What is said of it holds, and without its id, or of another service, it is another line.
      const [first] = put.services;
      const cases: [object, object][] = [
        [
          { ...first, rateCards: [] },
          { exceptionPricing: false, chargeFrequency: 'Monthly' },
        ],
        [
          { ...first, chargeFrequency: null },
          { exceptionPricing: false, chargeFrequency: null },
        ],
        [{ serviceId }, { exceptionPricing: false, chargeFrequency: null, dimensionValues: null }],
      ];
      let { id } = first;
      for (const [line, expected] of cases) {
        const sent = 'id' in line ? { ...line, id } : line;
        const { body: changed } = await tenant.put(path, { services: [sent] }).expect(200);
        id = changed.services[0].id;
        expect(await lineOf(0, changed)).to.deep.include(expected);
      }
    });

    it('refuses to take away an attribute that a kept card prices', async () => {
      const body = await create({
        services: [
          {
            serviceId,
            priceableAttributes: [{ name: 'Own', dimensionDataType: 'Number' }],
            rateCards: [
              {
                currency: 'USD',
                rows: [{ label: 'Own', priceDimName: 'Own', priceMethod: 'QUANTITY', unitRate: 1 }],
              },
            ],
          },
        ],
      });
      const services = [{ ...body.services[0], priceableAttributes: [] }];
      const { body: refused } = await tenant
        .put(`${contracts}/${body.id}`, { services })
        .expect(400);
      expect(refused.message).to.include("'services[0].priceableAttributes' is without 'Own'");
    });

    // spec/resources.md R63
    it('keeps what is left out and clears what is null', async () => {
      const body = await create({
        name: 'Keep',
        number: 'KEEP',
        startDate: '2024-01-01',
        endDate: '2024-12-31',
        currency: 'USD',
        poNumber: 'P',
        totalPrice: 5,
        services: [{ serviceId }],
      });
      const path = `${contracts}/${body.id}`;
      const { body: kept } = await tenant.put(path, {}).expect(200);
      expect(kept).to.deep.equal(body);
      const { body: cleared } = await tenant
        .put(path, {
          name: null,
          startDate: null,
          endDate: null,
          currency: null,
          poNumber: null,
          totalPrice: null,
          services: null,
        })
        .expect(200);
      expect(cleared).to.include({
        name: null,
        number: 'KEEP',
        startDate: null,
        endDate: null,
        currency: null,
        poNumber: null,
        totalPrice: null,
        masterAccountId,
      });
      expect(cleared.services).to.deep.equal([]);
    });

    // spec/resources.md R24
    it('compares a date with the stored one', async () => {
      const body = await create({ startDate: '2024-06-01', endDate: '2024-06-30' });
      const path = `${contracts}/${body.id}`;
      const { body: late } = await tenant.put(path, { startDate: '2024-07-01' }).expect(400);
      expect(late.message).to.contain("'startDate'");
      const { body: early } = await tenant.put(path, { endDate: '2024-05-31' }).expect(400);
      expect(early.message).to.contain("'endDate'");
      await tenant.put(path, { startDate: '2024-06-30' }).expect(200);
      await tenant.put(path, { endDate: null, startDate: '2024-07-01' }).expect(200);
      await tenant.put(path, { endDate: '2024-07-01' }).expect(200);
    });

    // spec/resources.md R63
    it('replaces all lines', async () => {
      const body = await create({
        services: [{ serviceId, rateCards: [flatCard('USD', 1)] }, { serviceId }],
      });
      const path = `${contracts}/${body.id}`;
      const other = await makeService(tenant);
      const { body: put } = await tenant.put(path, { services: [{ serviceId: other }] });
      expect(put.services).to.have.length(1);
      expect(put.services[0]).to.include({ serviceId: other, exceptionPricing: false });
      for (const line of body.services) {
        await tenant.get(`${path}/services/${line.id}`).expect(404);
        await tenant.get(`${path}/services/${line.id}/rate-cards`).expect(404);
      }
      // The lines are gone for good: the service of the old ones can be deleted.
      const used = await makeService(tenant);
      await tenant.put(path, { services: [{ serviceId: used }] }).expect(200);
      await tenant.delete(`${external}/services/${used}`).expect(409);
      await tenant.put(path, { services: [] }).expect(200);
      await tenant.delete(`${external}/services/${used}`).expect(204);
      await tenant.put(path, { services: [{ serviceId: used }] }).expect(400);
    });

    it('moves to another account, by id or external id', async () => {
      const body = await create({});
      const path = `${contracts}/${body.id}`;
      const next = await makeAccount(tenant, { name: 'Next', externalId: 'next' });
      const { body: byKey } = await tenant.put(path, { accountExtId: 'next' }).expect(200);
      expect(byKey.masterAccountId).to.equal(next);
      const { body: byId } = await tenant.put(path, { masterAccountId }).expect(200);
      expect(byId.masterAccountId).to.equal(masterAccountId);
    });

    it('refuses what a create refuses, and null for what is required', async () => {
      const body = await create({ number: 'UP-1' });
      await create({ number: 'UP-2' });
      const path = `${contracts}/${body.id}`;
      for (const [change, field] of [
        [{ number: null }, 'number'],
        [{ masterAccountId: null }, 'masterAccountId'],
        [{ masterAccountId: noSuchId }, 'masterAccountId'],
        [{ accountExtId: 'nobody' }, 'accountExtId'],
        [{ services: [{ serviceId }, { serviceId: noSuchId }] }, 'services[1].serviceId'],
        [{ services: [{ serviceId, contractId: noSuchId }] }, 'services[0].contractId'],
        [{ colour: 'red' }, 'colour'],
      ] as const) {
        const { body: answer } = await tenant.put(path, change).expect(400);
        expect(answer.message).to.contain(`'${field}'`);
      }
      await tenant.put(path, { number: 'UP-2' }).expect(409);
      await tenant.put(`${contracts}/${noSuchId}`, {}).expect(404);
      await tenant.put(`${contracts}/nonsense`, {}).expect(404);
      const { body: got } = await tenant.get(path).expect(200);
      expect(got).to.deep.equal(body);
    });
  });

  describe('delete', () => {
    // spec/resources.md R64
    it('is refused while there are lines, and frees the number', async () => {
      const body = await create({ number: 'DEL', services: [{ serviceId }] });
      const path = `${contracts}/${body.id}`;
      const line = `${path}/services/${body.services[0].id}`;
      await tenant.delete(path).expect(409);
      await tenant.put(`${line}/end`, { terminationDate: '2030-01-01' }).expect(200);
      await tenant.delete(path).expect(409);
      await tenant.delete(line).expect(204);
      await tenant.delete(path).expect(204);
      await tenant.get(path).expect(404);
      await tenant.get(`${path}/services`).expect(404);
      await tenant.put(path, {}).expect(404);
      await tenant.post(`${path}/services`, { serviceId }).expect(404);
      await tenant.delete(path).expect(404);
      await create({ number: 'DEL' });
    });

    it('never leaves a line behind in a deleted contract', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { id } = await create({});
        const path = `${contracts}/${id}`;
        const [added, deleted] = await Promise.all([
          tenant.post(`${path}/services`, { serviceId }),
          tenant.delete(path),
        ]);
        expect([added.status, deleted.status]).to.be.deep.oneOf([
          [201, 409],
          [404, 204],
        ]);
      }
    });
  });

  it('raises the rating version of the accounts it is, and was, of', async () => {
    const [one, two] = [await makeAccount(tenant), await makeAccount(tenant)];
    const versions = async () => [
      await ratingVersion(tenant, one),
      await ratingVersion(tenant, two),
    ];
    const start = await versions();
    const { body } = await tenant.post(contracts, { masterAccountId: one }).expect(201);
    const created = await versions();
    expect(created[0]).to.be.greaterThan(start[0] ?? NaN);
    expect(created[1]).to.equal(start[1]);
    const path = `${contracts}/${body.id}`;
    await tenant.put(path, { masterAccountId: two }).expect(200);
    const moved = await versions();
    expect(moved[0]).to.be.greaterThan(created[0] ?? NaN);
    expect(moved[1]).to.be.greaterThan(created[1] ?? NaN);
    await tenant.put(path, { currency: 'USD' }).expect(200);
    const changed = await versions();
    expect(changed[0]).to.equal(moved[0]);
    expect(changed[1]).to.be.greaterThan(moved[1] ?? NaN);
    await tenant.delete(path).expect(204);
    expect((await versions())[1]).to.be.greaterThan(changed[1] ?? NaN);
  });
});
