import { expect } from 'chai';
import {
  contracts,
  flatCard,
  lines,
  makeAccount,
  makeLine,
  makeService,
  noSuchId,
  ratingVersion,
} from '../../support/billing/contracts.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

interface Named {
  readonly id: string;
  readonly name: string;
}
const names = (attributes: readonly Named[]) => attributes.map(({ name }) => name);

// spec/resources.md R5, R18, R65, R66, R68, R73
describe('contract services', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  /** A contract without lines, and a service. */
  async function makeContract(change: object = {}) {
    const [masterAccountId, serviceId] = [await makeAccount(tenant), await makeService(tenant)];
    const { body } = await tenant.post(contracts, { masterAccountId, ...change }).expect(201);
    return { masterAccountId, serviceId, contractId: body.id, path: `${contracts}/${body.id}` };
  }

  describe('create', () => {
    it('copies the attributes of the service and no prices', async () => {
      const { path, serviceId, contractId } = await makeContract();
      const { body } = await tenant.post(`${path}/services`, { serviceId }).expect(201);
      const { body: service } = await tenant.get(`${external}/services/${serviceId}`).expect(200);
      expect(body).to.deep.equal({
        id: body.id,
        contractId,
        serviceId,
        serviceInstanceId: null,
        startDate: null,
        endDate: null,
        terminationDate: null,
        terminationMessage: null,
        chargeFrequency: null,
        billingFrequency: null,
        dimensionValues: null,
        accountMap: null,
        exceptionPricing: false,
        rateCards: [],
        priceableAttributes: service.priceableAttributes.map((attribute: Named, index: number) => ({
          ...attribute,
          id: body.priceableAttributes[index].id,
          dimensionValText: null,
        })),
      });
      expect(names(body.priceableAttributes)).to.deep.equal(['Calls', 'Seats']);
      expect(body.priceableAttributes[0].id).to.not.equal(service.priceableAttributes[0].id);
      // All types are copied: input and transaction attributes too.
      const kinds = await tenant.scope.db
        .read('attribute')
        .where({ contractServiceId: body.id })
        .orderBy('name')
        .select<{ name: string; kind: string }[]>('name', 'kind');
      expect(kinds.map(({ name, kind }) => `${name} ${kind}`)).to.deep.equal([
        'Calls PRICEABLE',
        'Customer TRANSACTION',
        'Region INPUT',
        'Seats PRICEABLE',
      ]);
      const { body: alone } = await tenant.get(`${lines}/${body.id}`).expect(200);
      expect(alone).to.deep.equal(body);
      const { body: nested } = await tenant.get(`${path}/services/${body.id}`).expect(200);
      expect(nested).to.deep.equal(body);
    });

    it('takes attributes and exception cards of its own', async () => {
      const { path, serviceId, contractId } = await makeContract();
      const { body } = await tenant
        .post(`${path}/services`, {
          serviceId,
          contractId,
          serviceInstanceId: 'sub-1',
          startDate: '2024-01-01',
          endDate: '2024-12-31',
          chargeFrequency: 'QUARTERLY',
          billingFrequency: 'yearly',
          dimensionValues: { Region: 'eu', deep: { list: [1, null] } },
          accountMap: { [noSuchId]: 100 },
          priceableAttributes: [
            { name: 'Own', dimensionDataType: 'number', dimensionValText: '7' },
          ],
          rateCards: [flatCard('Euro', 7, 'Own'), flatCard('USD', 8, 'Calls')],
        })
        .expect(201);
      expect(body).to.deep.include({
        serviceInstanceId: 'sub-1',
        startDate: '2024-01-01',
        endDate: '2024-12-31',
        chargeFrequency: 'Quarterly',
        billingFrequency: 'Yearly',
        exceptionPricing: true,
        dimensionValues: { Region: 'eu', deep: { list: [1, null] } },
        accountMap: { [noSuchId]: 100 },
      });
      expect(names(body.priceableAttributes)).to.deep.equal(['Own']);
      expect(body.priceableAttributes[0]).to.include({ dimensionValText: '7' });
      const [eur, usd] = body.rateCards;
      expect(eur).to.include({ currency: 'EUR', versionNo: 1, isCurrent: true });
      expect(eur.rows[0]).to.include({ priceMethod: 'FLAT_RATE', flatRate: 7 });
      expect(eur.rows[0].priceDimId).to.equal(body.priceableAttributes[0].id);
      expect(usd.currency).to.equal('USD');
    });

    it('copies nothing for an empty list of attributes', async () => {
      const { path, serviceId } = await makeContract();
      const { body } = await tenant
        .post(`${path}/services`, { serviceId, priceableAttributes: [], rateCards: [] })
        .expect(201);
      expect(body).to.deep.include({ priceableAttributes: [], rateCards: [] });
      expect(body.exceptionPricing).to.equal(false);
    });

    it('refuses what is not valid, and leaves nothing behind', async () => {
      const { path, serviceId } = await makeContract({ startDate: '2024-02-01' });
      const faults: [body: object, field: string][] = [
        [{}, 'serviceId'],
        [{ serviceId: null }, 'serviceId'],
        [{ serviceId: noSuchId }, 'serviceId'],
        [{ serviceId, templateId: serviceId }, 'templateId'],
        [{ serviceId, contractId: noSuchId }, 'contractId'],
        [{ serviceId, startDate: '2024-03-01', endDate: '2024-02-29' }, 'endDate'],
        [{ serviceId, startDate: '2023-02-29' }, 'startDate'],
        [{ serviceId, terminationDate: '2024-01-31' }, 'terminationDate'],
        [{ serviceId, chargeFrequency: 'Hourly' }, 'chargeFrequency'],
        [{ serviceId, accountMap: 'x' }, 'accountMap'],
        [{ serviceId, priceableAttributes: [{ name: 'A' }] }, 'dimensionDataType'],
        [{ serviceId, rateCards: [{ currency: 'USD', rows: [] }] }, 'rateCards[0].rows'],
        [{ serviceId, rateCards: [flatCard('USD', 1, 'Nothing')] }, 'priceDimName'],
        [{ serviceId, rateCards: [flatCard('USD', 1), flatCard('usd', 1)] }, 'currency'],
        [{ serviceId, colour: 'red' }, 'colour'],
      ];
      for (const [body, field] of faults) {
        const { body: answer } = await tenant.post(`${path}/services`, body).expect(400);
        expect(answer.message).to.contain(field);
      }
      const { body: list } = await tenant.get(`${path}/services`).expect(200);
      expect(list.totalElements).to.equal(0);
      await tenant.post(`${contracts}/${noSuchId}/services`, { serviceId }).expect(404);
    });

    it('never leaves a line of a deleted service', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { path, serviceId } = await makeContract();
        const [added, deleted] = await Promise.all([
          tenant.post(`${path}/services`, { serviceId }),
          tenant.delete(`${external}/services/${serviceId}`),
        ]);
        expect([added.status, deleted.status]).to.be.deep.oneOf([
          [201, 409],
          [400, 204],
        ]);
      }
    });
  });

  describe('list', () => {
    it('is a PageResponse, and an envelope of rows under view=row', async () => {
      const { path, serviceId, contractId } = await makeContract();
      const made = [];
      for (const rateCards of [[], [flatCard('USD', 1)], []]) {
        const body = { serviceId, rateCards, chargeFrequency: 'Monthly' };
        made.push((await tenant.post(`${path}/services`, body).expect(201)).body);
      }
      const { body } = await tenant.get(`${path}/services?size=2`).expect(200);
      expect(body).to.include({ page: 0, size: 2, totalElements: 3, totalPages: 2 });
      expect(body.content.map((line: { id: string }) => line.id)).to.deep.equal([
        made[0].id,
        made[1].id,
      ]);
      expect(body.content[1]).to.deep.equal({
        id: made[1].id,
        contractId,
        serviceId,
        serviceInstanceId: null,
        startDate: null,
        endDate: null,
        terminationDate: null,
        terminationMessage: null,
        chargeFrequency: 'Monthly',
        billingFrequency: null,
        exceptionPricing: true,
      });
      const { body: rows } = await tenant.get(`${path}/services?view=row&page=1&size=2`);
      expect(rows).to.include({ success: true, status: 200 });
      expect(rows.data).to.include({ totalElements: 3, number: 1, last: true });
      expect(rows.data.content[0]).to.include({
        __type__: 'ContractService',
        Id: made[2].id,
        ServiceId: serviceId,
        ContractId: contractId,
        ExceptionPricing: false,
        BillingFrequency: null,
      });
      expect(rows.data.content[0].ChargeFrequency__r).to.deep.equal({ Name: 'Monthly' });
      await tenant.get(`${path}/services?page=x`).expect(400);
      await tenant.get(`${contracts}/${noSuchId}/services`).expect(404);
    });
  });

  describe('read', () => {
    it('shows the row with its collections under view=row', async () => {
      const { path, lineId, serviceId } = await makeLine(tenant, {
        rateCards: [flatCard('USD', 1)],
      });
      const { body } = await tenant.get(path).expect(200);
      for (const address of [path, `${lines}/${lineId}`]) {
        const { body: row } = await tenant.get(`${address}?view=row`).expect(200);
        expect(row.data).to.include({
          __type__: 'ContractService',
          Id: lineId,
          ServiceId: serviceId,
          ExceptionPricing: true,
          TerminationDate: null,
        });
        expect(row.data.PriceableAttributes).to.deep.equal(body.priceableAttributes);
        expect(row.data.RateCards).to.deep.equal(body.rateCards);
      }
    });

    it('is under its own contract only', async () => {
      const { lineId } = await makeLine(tenant);
      const { path } = await makeContract();
      await tenant.get(`${path}/services/${lineId}`).expect(404);
      await tenant.put(`${path}/services/${lineId}`, {}).expect(404);
      await tenant.delete(`${path}/services/${lineId}`).expect(404);
      const end = { terminationDate: '2030-01-01' };
      await tenant.put(`${path}/services/${lineId}/end`, end).expect(404);
      await tenant.get(`${lines}/${noSuchId}`).expect(404);
      await tenant.get(`${lines}/nonsense`).expect(404);
      await tenant.get(`${lines}/${lineId}?view=x`).expect(400);
    });
  });

  describe('delete', () => {
    it('removes the line with its parts', async () => {
      const { path, lineId, contractId } = await makeLine(tenant, {
        rateCards: [flatCard('USD', 1)],
      });
      await tenant.delete(path).expect(204);
      await tenant.get(path).expect(404);
      await tenant.get(`${lines}/${lineId}`).expect(404);
      await tenant.get(`${path}/priceable-attributes`).expect(404);
      await tenant.get(`${path}/rate-cards/USD`).expect(404);
      await tenant.delete(path).expect(404);
      const { body } = await tenant.get(`${contracts}/${contractId}`).expect(200);
      expect(body.services).to.deep.equal([]);
      const { db } = tenant.scope;
      for (const table of ['attribute', 'rateCard']) {
        const left = await db
          .read(table)
          .where({ contractServiceId: lineId })
          .whereNull('deletedAt');
        expect(left, table).to.deep.equal([]);
      }
      const rows = await db
        .read('rateCardRow')
        .whereNull('deletedAt')
        .whereIn(
          'rateCardId',
          db.read('rateCard').where({ contractServiceId: lineId }).select('id'),
        );
      expect(rows).to.deep.equal([]);
    });
  });

  it('raises the rating version of the master account with every change', async () => {
    const { path, masterAccountId, serviceId, contractId, lineId } = await makeLine(tenant, {
      serviceInstanceId: 'version',
    });
    const attributes = `${path}/priceable-attributes`;
    const attribute = { name: 'V', dimensionDataType: 'Number' };
    const { body: made } = await tenant.post(attributes, attribute).expect(201);
    const end = { terminationDate: '2030-01-01' };
    let last = await ratingVersion(tenant, masterAccountId);
    for (const change of [
      () => tenant.post(`${contracts}/${contractId}/services`, { serviceId }).expect(201),
      () => tenant.put(path, { endDate: '2031-01-01' }).expect(200),
      () => tenant.put(`${lines}/${lineId}`, { chargeFrequency: 'Daily' }).expect(200),
      () => tenant.put(`${attributes}/${made.id}`, { label: 'W' }).expect(200),
      () => tenant.delete(`${attributes}/${made.id}`).expect(204),
      () => tenant.post(attributes, attribute).expect(201),
      () => tenant.post(`${path}/rate-cards`, flatCard('USD', 1)).expect(201),
      () => tenant.put(`${path}/rate-cards/USD`, flatCard('USD', 2)).expect(200),
      () => tenant.delete(`${path}/rate-cards/USD`).expect(204),
      () => tenant.put(`${path}/end`, end).expect(200),
      () => tenant.put(`${lines}/${lineId}/end`, end).expect(200),
      () => tenant.put(`${contracts}/services/by-instance/version/end`, end).expect(200),
      () => tenant.delete(path).expect(204),
    ]) {
      await change();
      const now = await ratingVersion(tenant, masterAccountId);
      expect(now).to.be.greaterThan(last);
      last = now;
    }
  });
});
