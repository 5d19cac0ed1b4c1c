import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  event,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance } from '../../support/servers/use-instance.js';

/** A card that charges `unitRate` a call under these conditions. */
const cardOf = (unitRate: number, conditions: Readonly<Record<string, string>> = {}) => ({
  currency: 'USD',
  rows: [
    {
      priceDimName: 'api_calls',
      label: 'Calls',
      priceMethod: 'QUANTITY',
      unitRate,
      attributeValues: Object.entries(conditions).map(([attributeName, attributeValue]) => ({
        attributeName,
        attributeValue,
      })),
    },
  ],
});

describe('cards whose conditions differ', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });

  const prepare = async () => {
    const tenant = await instance.tenant();
    const accountId = await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls', {
      rateCards: [cardOf(1, { zone: 'eu' })],
    });
    const contract = (services: object) =>
      tenant
        .post(`${external}/contracts`, {
          masterAccountId: accountId,
          name: 'C',
          startDate: '2026-01-01',
          currency: 'USD',
          services: [services],
        })
        .expect(201);
    return { tenant, serviceId, contract, catalog: `${external}/services/${serviceId}/rate-cards` };
  };

  const zoneAtLine =
    "'zone' is a condition of the catalog card in USD, and this card does not know it: usage that " +
    "gives 'zone' and is priced by an exception card is rejected (UNKNOWN_DIMENSION). Name it in a " +
    'row of both, or make it an input attribute of the service.';
  const plan =
    "'plan' is a condition of this card, and the catalog card in USD does not know it: usage that " +
    "gives 'plan' and is priced by the catalog card is rejected (UNKNOWN_DIMENSION). Name it in a " +
    'row of both, or make it an input attribute of the service.';

  it('say so when either is written, and the rejection says what to do', async () => {
    const { tenant, serviceId, contract, catalog } = await prepare();
    const { body: plain } = await contract({ serviceId });
    expect(plain).to.not.have.property('warnings');
    const line = `${external}/contracts/${plain.id}/services/${plain.services[0].id}`;
    const written = await tenant.post(`${line}/rate-cards`, cardOf(2, { plan: 'a' })).expect(201);
    expect(written.body.warnings).to.deep.equal([zoneAtLine, plan].sort());
    const read = await tenant.get(`${line}/rate-cards/USD`).expect(200);
    expect(read.body).to.not.have.property('warnings');
    const put = await tenant.put(`${line}/rate-cards/USD`, written.body).expect(200);
    expect(put.body.warnings).to.have.length(2);
    // The same from the side of the catalog.
    const { body: other } = await tenant
      .put(`${catalog}/USD`, cardOf(1, { zone: 'eu', tier: 'x' }))
      .expect(200);
    expect(other.warnings).to.have.length(3);
    expect(other.warnings[0]).to.match(
      /^'plan' is a condition of an exception card in USD, and this card does not know it: .* priced by the catalog card is rejected/,
    );
    expect(other.warnings[1]).to.match(
      /^'tier' is a condition of this card, and an exception card in USD does not know it: .* priced by an exception card is rejected/,
    );

    const dimensions = { api_calls: '1', zone: 'eu' };
    const [id = ''] = await send(tenant, usage('acme', serviceId, { dimensions }));
    await waitUntilRated(tenant, 1);
    const rejected = await event(tenant, id);
    expect(rejected.code).to.equal('UNKNOWN_DIMENSION');
    expect(rejected.reason).to.equal(
      "Dimension 'zone' is no attribute of service 'Calls' or of the contract line, and no condition " +
        "of the contract line's own rate card in USD (the catalog's does not count where there is " +
        'one). Known: api_calls, plan. Leave it out or correct its name, or add it as an input ' +
        'attribute of the service; then rate the event again.',
    );
  });

  it('say so where the card comes with its service, line or contract', async () => {
    const { tenant, serviceId, contract } = await prepare();
    const { body } = await contract({ serviceId, rateCards: [cardOf(2)] });
    const [{ id: lineId }] = body.services;
    expect(body.warnings).to.deep.equal([`Contract service ${lineId}: ${zoneAtLine}`]);
    const lines = `${external}/contracts/${body.id}/services`;
    const second = { serviceId, serviceInstanceId: 'b', rateCards: [cardOf(2)] };
    const { body: added } = await tenant.post(lines, second).expect(201);
    expect(added.rateCards[0].warnings).to.deep.equal([zoneAtLine]);
    const changed = { rateCards: [cardOf(3)] };
    const { body: line } = await tenant.put(`${lines}/${lineId}`, changed).expect(200);
    expect(line.rateCards[0].warnings).to.deep.equal([zoneAtLine]);
    const path = `${external}/services/${serviceId}`;
    const { body: service } = await tenant
      .put(path, { rateCards: [cardOf(1, { zone: 'us' })] })
      .expect(200);
    expect(service.rateCards[0].warnings[0]).to.include('and 2 exception cards in USD do not');
  });

  it('say nothing where an attribute has the name', async () => {
    const { tenant, serviceId, contract } = await prepare();
    await tenant
      .put(`${external}/services/${serviceId}`, {
        inputAttributes: [{ name: 'zone', dimensionDataType: 'String' }],
      })
      .expect(200);
    const { body } = await contract({ serviceId, rateCards: [cardOf(2)] });
    expect(body).to.not.have.property('warnings');
  });
});
