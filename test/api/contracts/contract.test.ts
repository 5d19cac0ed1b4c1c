import { expect } from 'chai';
import { createContract } from '../../../src/commands/contracts/contract.js';
import {
  contracts,
  flatCard,
  makeAccount,
  makeService,
  noSuchId,
} from '../../support/billing/contracts.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('contracts', () => {
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

  describe('create', () => {
    // spec/resources.md R65
    it('makes a contract with its lines in short', async () => {
      const body = await create({
        name: 'Deal',
        number: 'D-1',
        startDate: '2024-02-29',
        endDate: '2024-02-29',
        currency: 'euro',
        poNumber: 'PO 7',
        totalPrice: 1234.5,
        services: [
          { serviceId, serviceInstanceId: 'i-1', startDate: '2024-02-29', endDate: '2025-01-31' },
          { templateId: serviceId, rateCards: [flatCard('EUR', 3)], chargeFrequency: 'monthly' },
        ],
      });
      const [first, second] = body.services;
      expect(body).to.deep.equal({
        id: body.id,
        name: 'Deal',
        number: 'D-1',
        startDate: '2024-02-29',
        endDate: '2024-02-29',
        currency: 'EUR',
        masterAccountId,
        poNumber: 'PO 7',
        totalPrice: 1234.5,
        description: null,
        approvalStatus: 'Draft',
        services: [
          {
            id: first.id,
            serviceId,
            serviceInstanceId: 'i-1',
            startDate: '2024-02-29',
            endDate: '2025-01-31',
            terminationDate: null,
            exceptionPricing: false,
          },
          {
            id: second.id,
            serviceId,
            serviceInstanceId: null,
            startDate: null,
            endDate: null,
            terminationDate: null,
            exceptionPricing: true,
          },
        ],
        warnings: [
          `Contract service ${first.id}: this line runs until 2025-01-31, and its contract ends on 2024-02-29: later days are not charged.`,
        ],
      });
      const { body: got } = await tenant.get(`${contracts}/${body.id}`).expect(200);
      expect({ ...got, warnings: body.warnings }).to.deep.equal(body);
    });

    // spec/resources.md R61, R62
    it('needs only an account, by id or by external id, and makes a number', async () => {
      const before = Date.now();
      const byId = await create({});
      const number = Number(/^C-(\d+)$/.exec(byId.number)?.[1]);
      expect(number).to.be.within(before, Date.now() + 5);
      expect(byId).to.include({ name: null, startDate: null, currency: null, totalPrice: null });
      expect(byId.services).to.deep.equal([]);
      const { body: byKey } = await tenant
        .post(contracts, { accountExtId: 'master/1', masterAccountId: null, number: null })
        .expect(201);
      expect(byKey.masterAccountId).to.equal(masterAccountId);
      expect(byKey.number).to.match(/^C-\d+$/);
      const both = await create({ accountExtId: 'master/1', services: null });
      expect(both.masterAccountId).to.equal(masterAccountId);
    });

    // spec/resources.md R61
    it('gives contracts of one millisecond different numbers', async () => {
      const scope = { ...tenant.scope, now: () => new Date(1_600_000_000_000) };
      const made = await Promise.all(
        Array.from({ length: 8 }, () => createContract(scope, { masterAccountId })),
      );
      expect(made.map(({ number }) => number).sort()).to.deep.equal([
        'C-1600000000000',
        'C-1600000000001',
        'C-1600000000002',
        'C-1600000000003',
        'C-1600000000004',
        'C-1600000000005',
        'C-1600000000006',
        'C-1600000000007',
      ]);
    });

    it('lets one of 50 parallel creates of a number win', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () =>
          tenant.post(contracts, { masterAccountId, number: 'RACE', services: [{ serviceId }] }),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([201, ...Array.from({ length: 49 }, () => 409)]);
      const { body } = await tenant.get(`${contracts}?q=RACE`).expect(200);
      expect(body.data.totalElements).to.equal(1);
    });

    // spec/resources.md R61
    it('refuses a taken number, but not in another tenant', async () => {
      await create({ number: 'SAME' });
      const { body } = await tenant.post(contracts, { masterAccountId, number: 'SAME' });
      expect(body).to.include({ status: 409, error: 'Conflict', path: `uri=${contracts}` });
      const other = await instance.tenant();
      const theirs = await makeAccount(other);
      await other.post(contracts, { masterAccountId: theirs, number: 'SAME' }).expect(201);
      await other.post(contracts, { masterAccountId }).expect(400);
    });

    // spec/resources.md R25
    it('keeps a price of 38 digits', async () => {
      const price = '12345678901234567890.123456789012345678';
      const { text } = await tenant
        .post(contracts, `{"masterAccountId":"${masterAccountId}","totalPrice":${price}}`)
        .expect(201);
      expect(text).to.contain(`"totalPrice":${price},`);
      const { text: row } = await tenant
        .get(`${contracts}/${JSON.parse(text).id}?view=row`)
        .expect(200);
      expect(row).to.contain(`"TotalPrice":${price},`);
    });

    const faults: [name: string, body: () => object, field: string][] = [
      ['no account', () => ({ masterAccountId: undefined }), 'masterAccountId'],
      ['null accounts', () => ({ masterAccountId: null, accountExtId: null }), 'masterAccountId'],
      ['an account that is not there', () => ({ masterAccountId: noSuchId }), 'masterAccountId'],
      ['an account id that is none', () => ({ masterAccountId: 'x' }), 'masterAccountId'],
      ['an unknown external id', () => ({ accountExtId: 'nobody' }), 'accountExtId'],
      ['a blank number', () => ({ number: ' ' }), 'number'],
      ['an unknown currency', () => ({ currency: 'XXQ' }), 'currency'],
      ['a day that is none', () => ({ startDate: '2026-02-30' }), 'startDate'],
      ['an instant for a day', () => ({ startDate: '2026-02-28T00:00:00Z' }), 'startDate'],
      [
        'an end before the start',
        () => ({ startDate: '2024-03-01', endDate: '2024-02-29' }),
        'endDate',
      ],
      ['a price as text', () => ({ totalPrice: '1' }), 'totalPrice'],
      ['an unknown property', () => ({ colour: 'red' }), 'colour'],
      ['a line of nothing', () => ({ services: [{ serviceId }, {}] }), 'services[1].serviceId'],
      [
        'a line of a service that is not there',
        () => ({ services: [{ serviceId: noSuchId }] }),
        'services[0].serviceId',
      ],
      [
        'a line of two services',
        () => ({ services: [{ serviceId, templateId: noSuchId }] }),
        'services[0].templateId',
      ],
      [
        'a line of another contract',
        () => ({ services: [{ serviceId, contractId: noSuchId }] }),
        'services[0].contractId',
      ],
      [
        'a line that ends before it starts',
        () => ({ services: [{ serviceId, startDate: '2024-01-02', endDate: '2024-01-01' }] }),
        'services[0].endDate',
      ],
      [
        'a line that is ended before its contract starts',
        () => ({
          startDate: '2024-01-02',
          services: [{ serviceId, terminationDate: '2024-01-01' }],
        }),
        'services[0].terminationDate',
      ],
      [
        'an unknown frequency',
        () => ({ services: [{ serviceId, billingFrequency: 'Hourly' }] }),
        'services[0].billingFrequency',
      ],
      [
        'two attributes of one name',
        () => {
          const attribute = { name: 'A', dimensionDataType: 'Number' };
          return { services: [{ serviceId, priceableAttributes: [attribute, attribute] }] };
        },
        'services[0].priceableAttributes[1].name',
      ],
      [
        'a card of an unknown attribute',
        () => ({ services: [{ serviceId, rateCards: [flatCard('USD', 1, 'Nothing')] }] }),
        'services[0].rateCards[0].rows[0].priceDimName',
      ],
      [
        'two cards of one currency',
        () => ({
          services: [{ serviceId, rateCards: [flatCard('USD', 1), flatCard('US Dollar', 1)] }],
        }),
        'services[0].rateCards[1].currency',
      ],
      [
        'dimension values that are an array',
        () => ({ services: [{ serviceId, dimensionValues: [] }] }),
        'services[0].dimensionValues',
      ],
    ];
    for (const [name, body, field] of faults) {
      // spec/resources.md R22, R24, R62
      it(`refuses ${name}`, async () => {
        const { body: before } = await tenant.get(contracts).expect(200);
        const { body: answer } = await tenant
          .post(contracts, { masterAccountId, ...body() })
          .expect(400);
        expect(answer).to.include({ status: 400, error: 'Validation Error' });
        expect(answer.message).to.contain(`'${field}'`);
        const { body: after } = await tenant.get(contracts).expect(200);
        expect(after.data.totalElements).to.equal(before.data.totalElements);
      });
    }

    // spec/resources.md R62
    it('refuses two accounts that differ', async () => {
      await makeAccount(tenant, { name: 'Second', externalId: 'second' });
      const { body } = await tenant
        .post(contracts, { masterAccountId, accountExtId: 'second' })
        .expect(400);
      expect(body.message).to.contain('accountExtId');
    });

    it('refuses a deleted account', async () => {
      const gone = await makeAccount(tenant, { name: 'Gone', externalId: 'gone' });
      await tenant.delete(`${external}/accounts/${gone}`).expect(204);
      await tenant.post(contracts, { masterAccountId: gone }).expect(400);
      await tenant.post(contracts, { accountExtId: 'gone' }).expect(400);
    });
  });

  describe('read and list', () => {
    // spec/resources.md R8
    it('shows the row with its lines under view=row', async () => {
      const body = await create({ name: 'Row', currency: 'USD', services: [{ serviceId }] });
      const { body: row } = await tenant.get(`${contracts}/${body.id}?view=row`).expect(200);
      expect(row).to.include({ success: true, status: 200 });
      expect(row.data).to.include({
        __type__: 'Contract',
        Id: body.id,
        Name: 'Row',
        Number: body.number,
        MasterAccountId: masterAccountId,
      });
      expect(row.data.ApprovalStatus__r).to.deep.equal({ Name: 'Draft' });
      expect(row.data.Currency__r).to.deep.equal({ Name: 'USD' });
      expect(row.data.Services).to.deep.equal(body.services);
      await tenant.get(`${contracts}/${body.id}?view=column`).expect(400);
    });

    it('answers 404 for what is not there', async () => {
      await tenant.get(`${contracts}/${noSuchId}`).expect(404);
      await tenant.get(`${contracts}/nonsense`).expect(404);
    });

    it('lists rows by number without lines, and searches name and number', async () => {
      const own = await instance.tenant();
      const account = await makeAccount(own);
      const service = await makeService(own);
      for (let index = 0; index < 22; index += 1) {
        const two = String(index).padStart(2, '0');
        const name = index === 3 ? null : `Name ${two}`;
        await own
          .post(contracts, {
            masterAccountId: account,
            number: `N-${two}`,
            name,
            services: [{ serviceId: service }],
          })
          .expect(201);
      }
      const { body } = await own.get(`${contracts}?size=50`).expect(200);
      expect(body.data).to.include({ totalElements: 22, totalPages: 2, size: 20 });
      expect(body.data.content[3]).to.include({
        __type__: 'Contract',
        Number: 'N-03',
        Name: null,
        MasterAccountId: account,
      });
      expect(body.data.content[3]).to.not.have.property('Services');
      const { body: next } = await own.get(`${contracts}?page=1`).expect(200);
      expect(next.data.content.map((row: { Number: string }) => row.Number)).to.deep.equal([
        'N-20',
        'N-21',
      ]);
      const found = async (q: string): Promise<number> =>
        (await own.get(`${contracts}?q=${encodeURIComponent(q)}`).expect(200)).body.data
          .totalElements;
      expect(await found('n-1')).to.equal(10);
      expect(await found('NAME 0')).to.equal(9);
      expect(await found('%')).to.equal(0);
      await own.get(`${contracts}?size=-1`).expect(400);
    });
  });

  it('is out of reach of another tenant', async () => {
    const body = await create({ services: [{ serviceId }] });
    const other = await instance.tenant();
    const path = `${contracts}/${body.id}`;
    await other.get(path).expect(404);
    await other.get(`${path}/services`).expect(404);
    await other.put(path, { name: 'Theirs' }).expect(404);
    await other.delete(path).expect(404);
    const { body: list } = await other.get(contracts).expect(200);
    expect(list.data.totalElements).to.equal(0);
  });

  it('needs the role ADMIN', async () => {
    const weak = await instance.tenant(['TENANTADMIN']);
    await weak.post(contracts, { masterAccountId }).expect(403);
  });
});
