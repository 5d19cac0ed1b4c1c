import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import { approveService, card, dayFromToday, makeService } from '../../support/billing/catalog.js';
import { createAccount } from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const number = (name: string, more: object = {}) => ({
  name,
  dimensionDataType: 'Number',
  ...more,
});
const row = (label: string, more: object = {}) => ({
  priceDimName: 'calls',
  label,
  priceMethod: 'QUANTITY',
  unitRate: 1,
  ...more,
});
const only = (attributeName: string, attributeValue: string) => ({
  attributeValues: [{ attributeName, attributeValue }],
});

// docs/decisions/0309
describe('rows of a card that nothing reaches', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const fields = {
    priceableAttributes: [number('calls'), number('storage')],
    inputAttributes: [number('level'), { name: 'zone', dimensionDataType: 'String' }],
  };
  const cardsOf = (id: string) => `${external}/services/${id}/rate-cards`;
  const hidden =
    "rows[1] 'Again' prices nothing: rows[0] 'All' comes first, with the same attribute and conditions.";

  it('are named when the card is written, and in no other answer', async () => {
    const { id } = await makeService(tenant, fields);
    const written = card(
      'USD',
      row('All'),
      row('Again'),
      row('Gold', only('level', 'gold')),
      row('Level 1', only('level', '1')),
      row('Level 1.0', only('level', '1.0')),
      row('Zone', only('zone', 'gold')),
      row('Storage', {
        priceDimName: 'storage',
        priceMethod: 'TIERED',
        unitRate: undefined,
        resetFrequency: 'Monthly',
        rateCardTiers: [{ tierNum: 1, tierMinVal: 0, tierUnitRate: 1 }],
      }),
    );
    const warnings = [
      hidden,
      "rows[2] 'Gold' prices nothing: its condition level=gold is no number, and 'level' is a Number.",
      "rows[4] 'Level 1.0' prices nothing: rows[3] 'Level 1' comes first, with the same attribute and conditions.",
      "rows[6] 'Storage': its resetFrequency has no effect, because its attribute is not metered (isMeterDimension).",
    ];
    const { body: added } = await tenant.post(cardsOf(id), written).expect(201);
    expect(added.warnings).to.deep.equal(warnings);
    const { body: put } = await tenant.put(`${cardsOf(id)}/USD`, added).expect(200);
    expect(put.warnings).to.deep.equal(warnings);
    const { body: read } = await tenant.get(`${cardsOf(id)}/USD`).expect(200);
    expect(read).to.not.have.property('warnings');
    const service = await makeService(tenant, { ...fields, rateCards: [written] });
    expect(service['rateCards']?.[0]).to.deep.include({ warnings });
  });

  it('are those that no formula asks for', async () => {
    const service = await makeService(tenant, {
      ...fields,
      rateCards: [card('USD', row('Calls'), row('Storage', { priceDimName: 'storage' }))],
      pricingLogic: [
        {
          name: 'L',
          priceOutput: 'total',
          transactionDimension: 'Customer',
          steps: [{ name: 'total', formula: 'Price(calls, calls)' }],
        },
      ],
    });
    expect(service['rateCards']?.[0]).to.deep.include({
      warnings: [
        "rows[1] 'Storage' prices nothing: the service has pricing logic, and none of its formulas has a Price() of this attribute.",
      ],
    });
  });

  it('are named of exception cards, alone and with their contract', async () => {
    const { id: serviceId } = await makeService(tenant, fields);
    const rateCards = [card('USD', row('All'), row('Again'))];
    const { body } = await tenant
      .post(`${external}/contracts`, {
        masterAccountId: await createAccount(tenant, 'acme'),
        name: 'C',
        services: [{ serviceId, rateCards }, { serviceId }],
      })
      .expect(201);
    const [first, second] = body.services;
    expect(body.warnings).to.deep.equal([`Contract service ${first.id}: USD: ${hidden}`]);
    const lines = `${external}/contracts/${body.id}/services`;
    const { body: added } = await tenant
      .post(`${lines}/${second.id}/rate-cards`, rateCards[0])
      .expect(201);
    expect(added.warnings).to.deep.equal([hidden]);
    const { body: line } = await tenant.put(`${lines}/${first.id}`, { rateCards }).expect(200);
    expect(line.rateCards[0].warnings).to.deep.equal([hidden]);
  });

  it('are counted where there are many', async () => {
    const { id } = await makeService(tenant, fields);
    const rows = Array.from({ length: 24 }, (_, index) => row(`Row ${index}`));
    const { body } = await tenant.post(cardsOf(id), card('USD', ...rows)).expect(201);
    expect(body.warnings).to.have.length(21);
    expect(body.warnings[20]).to.equal('The same holds for 3 more rows.');
  });

  it('have a first day of their own to tell, where another one was sent', async () => {
    const service = await makeService(tenant, fields);
    const today = dayFromToday(0);
    const next = dayFromToday(40);
    const write = { ...card('USD', row('All')), fromDate: next };
    const { body } = await tenant.post(cardsOf(service.id), write).expect(201);
    expect(body.fromDate).to.equal(today);
    expect(body.warnings).to.deep.equal([
      `'fromDate' ${next} has no effect: these prices hold from ${today} on, and for all days before the first version.`,
    ]);
    const { body: contract } = await tenant
      .post(`${external}/contracts`, {
        masterAccountId: await createAccount(tenant, 'next'),
        name: 'C',
        services: [{ serviceId: service.id, rateCards: [write] }],
      })
      .expect(201);
    expect(contract.warnings).to.deep.equal([`services[0].rateCards[0]: ${body.warnings[0]}`]);
    await approveService(tenant, service.id);
    const { body: put } = await tenant.put(`${cardsOf(service.id)}/USD`, body).expect(200);
    expect(put).to.not.have.property('warnings');
  });
});
