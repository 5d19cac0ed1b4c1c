import { expect } from 'chai';
import { Attribute } from '../../../src/models/catalog/attribute.js';
import { Service } from '../../../src/models/catalog/service.js';
import {
  calls,
  callsRow,
  card,
  logic,
  makeService,
  noSuchId,
  services,
  storage,
} from '../../support/billing/catalog.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('pricing logic', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const make = async (fields: object = {}) => {
    const { id } = await makeService(tenant, {
      priceableAttributes: [calls],
      inputAttributes: [{ name: 'seats', dimensionDataType: 'Number' }],
      ...fields,
    });
    return { id, address: `${services}/${id}/pricing-logic` };
  };

  // spec/resources.md R57, R58, R60
  it('is added in order, read, listed, changed and deleted', async () => {
    const { address } = await make();
    const steps = [
      { name: 'base', label: 'Base', formula: 'Price(API Calls, seats)' },
      { name: 'total', formula: 'Ceil(base * 1.2) - -Floor(seats / 2) + Round("seats")' },
    ];
    const { body } = await tenant
      .post(address, { ...logic(''), steps, usageType: 'PAYOUT', chargeType: 'all' })
      .expect(201);
    expect(body).to.include({ name: 'Charge', seqNo: 1, priceOutput: 'total' });
    expect(body).to.include({ usageType: 'Payout', chargeType: 'All' });
    expect(body.steps).to.deep.equal([steps[0], { ...steps[1], label: null }]);
    expect((await tenant.get(`${address}/${body.id}`).expect(200)).body).to.deep.equal(body);
    const second = await tenant.post(address, logic('1', { name: 'Second' })).expect(201);
    expect(second.body).to.include({ seqNo: 2, usageType: 'Charge', chargeType: null });
    const { body: page } = await tenant.get(`${address}?size=1&page=1`).expect(200);
    expect(page).to.include({ totalElements: 2, totalPages: 2, page: 1, size: 1 });
    expect(page.content).to.deep.equal([second.body]);
    await tenant.get(`${address}?size=0`).expect(400);
    // docs/decisions/0311: what is paid out does not become a charge by it.
    await tenant.put(`${address}/${body.id}`, { ...body, usageType: null }).expect(400);
    const change = { ...body, name: 'Changed', chargeType: null };
    const { body: changed } = await tenant.put(`${address}/${body.id}`, change).expect(200);
    expect(changed).to.deep.equal(change);
    await tenant.delete(`${address}/${body.id}`).expect(204, '');
    await tenant.get(`${address}/${body.id}`).expect(404);
    const third = await tenant.post(address, logic('1')).expect(201);
    expect(third.body.seqNo).to.equal(3);
  });

  it('may name every kind of attribute and the attribute names on current cards', async () => {
    const conditions = [{ attributeName: 'region', attributeValue: 'EU' }];
    const { id, address } = await make({
      rateCards: [card('USD', callsRow(1, { attributeValues: conditions }))],
    });
    const formula = 'seats + region + Customer + Price(API Calls, 1)';
    await tenant.post(address, logic(formula)).expect(201);
    await tenant.delete(`${services}/${id}/rate-cards/USD`).expect(204);
    const { body } = await tenant.post(address, logic(formula)).expect(400);
    expect(body.message).to.include("'region'").and.not.include("'Customer'");
  });

  // spec/resources.md R59
  it('makes its transaction dimension when the service has none of that name', async () => {
    const { id, address } = await make();
    const dimensions = async () => {
      const attributes = await Attribute.query(tenant.scope.db.read)
        .forTenant(tenant.id)
        .existing()
        .where({ serviceId: id, kind: 'TRANSACTION' })
        .orderBy('position');
      return attributes.map(({ name, dimensionDataType }) => `${name} ${dimensionDataType}`);
    };
    const { body } = await tenant.post(address, logic('1')).expect(201);
    await tenant.post(address, logic('1')).expect(201);
    await tenant.post(address, logic('1', { transactionDimension: 'seats' })).expect(201);
    expect(await dimensions()).to.deep.equal(['Customer String']);
    await tenant.put(`${address}/${body.id}`, { transactionDimension: 'Payer' }).expect(200);
    expect(await dimensions()).to.deep.equal(['Customer String', 'Payer String']);
    const service = await tenant.get(`${services}/${id}`).expect(200);
    expect(service.body.priceableAttributes).to.have.length(1);
    expect(service.body.inputAttributes).to.have.length(1);
  });

  const steps = (...list: object[]) => ({ ...logic(''), steps: list });
  const refusals: [string, object, string][] = [
    ['no name', { ...logic('1'), name: undefined }, "'name' is required"],
    ['no steps', steps(), "'steps' must have at least 1 item"],
    ['no output', { ...logic('1'), priceOutput: undefined }, "'priceOutput' is required"],
    [
      'no transaction dimension',
      { ...logic('1'), transactionDimension: undefined },
      "'transactionDimension' is required",
    ],
    [
      'an output that is no step',
      logic('1', { priceOutput: 'price' }),
      "'priceOutput': priceOutput 'price' is not the name of a step",
    ],
    ['an output that is no identifier', logic('1', { priceOutput: '1x' }), "'priceOutput'"],
    ['a step name with a space', steps({ name: 'a b', formula: '1' }), "'steps[0].name'"],
    ['a step without formula', steps({ name: 'total' }), "'steps[0].formula' is required"],
    [
      'an unknown property in a step',
      steps({ name: 'total', formula: '1', note: '' }),
      "'steps[0].note' is not a known property",
    ],
    ['an unknown charge type', logic('1', { chargeType: 'Rent' }), 'Usage, Subscription, All, OTC'],
    [
      'a formula that does not parse',
      steps({ name: 'a', formula: '1' }, { name: 'total', formula: '2 * (3 +' }),
      "'steps[1].formula': step 'total'",
    ],
    ['a formula that does not parse, with its place', logic('2 * (3 +'), '(character 9)'],
    ['a name that nothing has', logic('1 + seat'), "'seat' is neither"],
    [
      'a later step',
      steps({ name: 'a', formula: 'total' }, { name: 'total', formula: '1' }),
      "'steps[0].formula': step 'a': 'total' is neither",
    ],
    [
      'the price of an input attribute',
      logic('Price(seats, 1)'),
      "'seats' is not a priceable attribute (character 1)",
    ],
    ['an unknown function', logic('Max(1, 2)'), "'Max' is not a function"],
    [
      'two steps of one name',
      steps({ name: 'total', formula: '1' }, { name: 'total', formula: '2' }),
      "two steps named 'total'",
    ],
  ];
  for (const [what, body, message] of refusals) {
    // spec/rating.md R48; spec/resources.md R56, R60
    it(`is refused with ${what}, by POST and by PUT`, async () => {
      const { address } = await make();
      const { body: answer } = await tenant.post(address, body).expect(400);
      expect(answer).to.include({ status: 400, error: 'Validation Error' });
      expect(answer.message).to.include(message);
      const good = await tenant.post(address, logic('1')).expect(201);
      if (!Object.values(body).includes(undefined)) {
        await tenant.put(`${address}/${good.body.id}`, body).expect(400);
      }
      const { body: page } = await tenant.get(address).expect(200);
      expect(page.content).to.deep.equal([good.body]);
    });
  }

  it('raises the version that rating looks at with every change', async () => {
    const { id, address } = await make();
    const version = async () => {
      const query = Service.query(tenant.scope.db.read).forTenant(tenant.id);
      return Number((await query.findById(id))?.ratingVersion);
    };
    const seen = [await version()];
    const { body } = await tenant.post(address, logic('1')).expect(201);
    seen.push(await version());
    await tenant.put(`${address}/${body.id}`, { steps: logic('2').steps }).expect(200);
    seen.push(await version());
    await tenant.delete(`${address}/${body.id}`).expect(204);
    seen.push(await version());
    await tenant.post(`${services}/${id}/priceable-attributes`, storage).expect(201);
    seen.push(await version());
    expect(new Set(seen).size).to.equal(5);
    expect([...seen].sort((a, b) => a - b)).to.deep.equal(seen);
  });

  it('answers 404 where service or logic is none of the tenant', async () => {
    const { address } = await make();
    const { address: elsewhere } = await make();
    const { body } = await tenant.post(address, logic('1')).expect(201);
    const stranger = await instance.tenant();
    const nowhere = `${services}/${noSuchId}/pricing-logic`;
    for (const [client, at] of [
      [tenant, nowhere],
      [stranger, address],
    ] as const) {
      await client.get(at).expect(404);
      await client.get(`${at}/${body.id}`).expect(404);
      await client.post(at, logic('1')).expect(404);
      await client.put(`${at}/${body.id}`, {}).expect(404);
      await client.delete(`${at}/${body.id}`).expect(404);
    }
    await tenant.get(`${elsewhere}/${body.id}`).expect(404);
    await tenant.put(`${elsewhere}/${body.id}`, {}).expect(404);
    await tenant.delete(`${elsewhere}/${body.id}`).expect(404);
  });
});
