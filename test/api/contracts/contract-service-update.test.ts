import { expect } from 'chai';
import {
  flatCard,
  lines,
  makeLine,
  makeService,
  noSuchId,
} from '../../support/billing/contracts.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';

interface Named {
  readonly id: string;
  readonly name: string;
}
const names = (attributes: readonly Named[]) => attributes.map(({ name }) => name);

describe('an update of a contract service', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance();
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('takes back what it gave, also with cards that price replaced attributes', async () => {
    const { path, lineId } = await makeLine(tenant, {
      serviceInstanceId: 'x',
      startDate: '2024-01-01',
      dimensionValues: { a: 1 },
      rateCards: [flatCard('USD', 1), flatCard('EUR', 2, 'Seats')],
    });
    const { body } = await tenant.get(path).expect(200);
    const { body: put } = await tenant
      .put(`${lines}/${lineId}`, { ...body, billingFrequency: 'Monthly', endDate: '2025-01-01' })
      .expect(200);
    expect(put).to.include({ id: lineId, billingFrequency: 'Monthly', endDate: '2025-01-01' });
    expect(put).to.deep.include({ startDate: '2024-01-01', dimensionValues: { a: 1 } });
    expect(names(put.priceableAttributes)).to.deep.equal(['Calls', 'Seats']);
    const [calls, seats] = put.priceableAttributes;
    expect(calls).to.include({ isMeterDimension: true, meterResetFrequency: 'Monthly' });
    const priced = put.rateCards.map((card: { rows: [{ priceDimId: string }] }) => [
      card.rows[0].priceDimId,
    ]);
    // By currency: EUR, then USD.
    expect(priced).to.deep.equal([[seats.id], [calls.id]]);
    const { body: got } = await tenant.get(path).expect(200);
    // Only the answer to a write has warnings: no formula of the service prices seats.
    expect(put.rateCards[0].warnings).to.have.length(1);
    delete put.rateCards[0].warnings;
    expect(got).to.deep.equal(put);
  });

  it('keeps what is left out and clears what is null', async () => {
    const { path } = await makeLine(tenant, {
      serviceInstanceId: 'x',
      startDate: '2024-01-01',
      endDate: '2024-02-01',
      chargeFrequency: 'Daily',
      billingFrequency: 'Daily',
      accountMap: { a: 1 },
      rateCards: [flatCard('USD', 1)],
    });
    const { body } = await tenant.get(path).expect(200);
    const { body: kept } = await tenant.put(path, {}).expect(200);
    expect(kept).to.deep.equal(body);
    const { body: cleared } = await tenant
      .put(path, {
        serviceInstanceId: null,
        startDate: null,
        endDate: null,
        chargeFrequency: null,
        billingFrequency: null,
        accountMap: null,
        rateCards: null,
      })
      .expect(200);
    expect(cleared).to.deep.equal({
      ...body,
      serviceInstanceId: null,
      startDate: null,
      endDate: null,
      chargeFrequency: null,
      billingFrequency: null,
      accountMap: null,
      rateCards: [],
      exceptionPricing: false,
    });
  });

  it('replaces collections one by one', async () => {
    const { path } = await makeLine(tenant, { rateCards: [flatCard('USD', 1)] });
    const calls = { name: 'Calls', dimensionDataType: 'Number' };
    const seats = { name: 'Seats', dimensionDataType: 'Number' };
    // The card prices Calls, which must not go.
    await tenant.put(path, { priceableAttributes: [seats] }).expect(409);
    const alone = `${external}/contract-services/${path.split('/').pop()}`;
    await tenant.put(alone, { priceableAttributes: [seats] }).expect(409);
    const { body: attributes } = await tenant
      .put(path, { priceableAttributes: [seats, calls] })
      .expect(200);
    expect(names(attributes.priceableAttributes)).to.deep.equal(['Seats', 'Calls']);
    expect(attributes.rateCards[0].rows[0].priceDimId).to.equal(
      attributes.priceableAttributes[1].id,
    );
    const { body: cards } = await tenant
      .put(path, { rateCards: [flatCard('USD', 2), flatCard('EUR', 3)] })
      .expect(200);
    expect(
      cards.rateCards.map((card: { currency: string; versionNo: number }) => [
        card.currency,
        card.versionNo,
      ]),
    ).to.deep.equal([
      ['EUR', 1],
      ['USD', 2],
    ]);
    const { body: both } = await tenant
      .put(path, { priceableAttributes: [seats], rateCards: [flatCard('USD', 4, 'Seats')] })
      .expect(200);
    expect(names(both.priceableAttributes)).to.deep.equal(['Seats']);
    expect(both.rateCards).to.have.length(1);
    expect(both.rateCards[0]).to.include({ currency: 'USD', versionNo: 1 });
  });

  it('refuses what is not valid', async () => {
    const { path, lineId } = await makeLine(tenant, {
      startDate: '2024-06-01',
      endDate: '2024-06-30',
      terminationDate: '2024-06-15',
    });
    const { body: before } = await tenant.get(path).expect(200);
    const other = await makeService(tenant);
    const faults: [body: object, field: string][] = [
      [{ startDate: '2024-07-01' }, 'startDate'],
      [{ endDate: '2024-05-31' }, 'endDate'],
      [{ startDate: '2024-06-16' }, 'terminationDate'],
      [{ terminationDate: '2024-05-31' }, 'terminationDate'],
      [{ serviceId: other }, 'serviceId'],
      [{ serviceId: null }, 'serviceId'],
      [{ contractId: noSuchId }, 'contractId'],
      [{ billingFrequency: 'Hourly' }, 'billingFrequency'],
      [{ serviceInstanceId: ' ' }, 'serviceInstanceId'],
      [{ rateCards: [flatCard('USD', 1, 'Nothing')] }, 'rateCards[0].rows[0].priceDimName'],
      [
        {
          priceableAttributes: [
            { name: 'A', dimensionDataType: 'Number' },
            { name: 'A', dimensionDataType: 'Number' },
          ],
        },
        'priceableAttributes[1].name',
      ],
    ];
    for (const [body, field] of faults) {
      for (const address of [path, `${lines}/${lineId}`]) {
        const { body: answer } = await tenant.put(address, body).expect(400);
        expect(answer.message).to.contain(`'${field}'`);
      }
    }
    await tenant.put(`${lines}/${noSuchId}`, {}).expect(404);
    const { body: after } = await tenant.get(path).expect(200);
    expect(after).to.deep.equal(before);
  });
});
