import { expect } from 'chai';
import { Service } from '../../../src/models/catalog/service.js';
import {
  calls,
  callsRow,
  card,
  makeService,
  noSuchId,
  services,
} from '../../support/billing/catalog.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const address = '/api/rate-computation';

const expressions = (formula: string, more: object = {}) => ({
  exprList: [{ name: 'total', formula }],
  computationOutput: { priceOutput: 'total', transactionDimension: 'Customer', ...more },
});

describe('rate computations', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const make = async (fields: object = {}): Promise<string> => {
    const { id } = await makeService(tenant, {
      priceableAttributes: [calls],
      inputAttributes: [{ name: 'seats', dimensionDataType: 'Number' }],
      ...fields,
    });
    return id;
  };
  const add = async (serviceId: string, seqNo: number, formula = '1', name = `No. ${seqNo}`) => {
    const body = { serviceId, name, seqNo, expressionList: expressions(formula) };
    return (await tenant.post(address, body).expect(201)).body.data;
  };
  const listOf = async (serviceId: string) =>
    (await tenant.get(`${address}/service/${serviceId}/all`).expect(200)).body.data;

  // spec/platform.md R10
  it('are the pricing logic of the resource API', async () => {
    const serviceId = await make();
    const exprList = [
      { name: 'base', label: 'Base', formula: 'Price(API Calls, seats)' },
      { name: 'total', formula: 'Round(base * 1.2)' },
    ];
    const computationOutput = {
      priceOutput: 'total',
      transactionDimension: 'Customer',
      usageType: 'PAYOUT',
      chargeType: 'all',
    };
    const sent = { serviceId, name: 'Charge', seqNo: 7 };
    const { body, headers } = await tenant
      .post(address, { ...sent, expressionList: { exprList, computationOutput } })
      .expect(201);
    expect(body).to.include({ success: true, status: 201, requestId: headers['x-request-id'] });
    expect(body.errors).to.deep.equal([]);
    const { id } = body.data;
    const output = { ...computationOutput, usageType: 'Payout', chargeType: 'All' };
    const steps = [exprList[0], { ...exprList[1], label: null }];
    expect(body.data).to.deep.equal({
      id,
      ...sent,
      expressionList: { exprList: steps, computationOutput: output },
    });
    expect(await listOf(serviceId)).to.deep.equal([body.data]);
    const logic = await tenant.get(`${services}/${serviceId}/pricing-logic/${id}`).expect(200);
    expect(logic.body).to.deep.equal({ id, name: 'Charge', seqNo: 7, ...output, steps });
  });

  // spec/platform.md R11
  it('run in the order of their numbers, the older first of two of one number', async () => {
    const serviceId = await make();
    for (const [seqNo, name] of [
      [20, 'c'],
      [10, 'a'],
      [20, 'd'],
      [0, 'z'],
      [15, 'b'],
    ] as const) {
      await add(serviceId, seqNo, '1', name);
    }
    const order = async () =>
      (await listOf(serviceId)).map(({ name }: { name: string }) => name).join('');
    expect(await order()).to.equal('zabcd');
    const [first] = await listOf(serviceId);
    await tenant.put(`${address}/${first.id}`, { seqNo: 16 }).expect(200);
    expect(await order()).to.equal('abzcd');
  });

  it('change in what is given, and the body of a GET may be sent back', async () => {
    const serviceId = await make();
    const made = await add(serviceId, 1, 'seats * 2');
    const put = async (body: object) =>
      (await tenant.put(`${address}/${made.id}`, body).expect(200)).body.data;
    expect(await put({})).to.deep.equal(made);
    expect(await put(made)).to.deep.equal(made);
    expect(await put({ name: 'New' })).to.deep.equal({ ...made, name: 'New' });
    const changed = await put({
      expressionList: expressions('3', { usageType: 'Payout', chargeType: 'OTC' }),
    });
    expect(changed.expressionList).to.deep.equal({
      exprList: [{ name: 'total', label: null, formula: '3' }],
      computationOutput: {
        priceOutput: 'total',
        transactionDimension: 'Customer',
        usageType: 'Payout',
        chargeType: 'OTC',
      },
    });
    // The list is replaced as a whole: what it leaves out has its default again.
    const again = await put({ expressionList: expressions('3') });
    expect(again.expressionList.computationOutput).to.include({
      usageType: 'Charge',
      chargeType: null,
    });
    await tenant.delete(`${address}/${made.id}`).expect(204, '');
    expect(await listOf(serviceId)).to.deep.equal([]);
    await tenant.delete(`${address}/${made.id}`).expect(404);
    await tenant.put(`${address}/${made.id}`, {}).expect(404);
  });

  const right = { name: 'x', seqNo: 1, expressionList: expressions('1') };
  const output = right.expressionList.computationOutput;
  const refusals: [what: string, change: object, message: string][] = [
    ['no name', { name: undefined }, "'name' is required"],
    ['no number', { seqNo: undefined }, "'seqNo' is required"],
    ['a fraction as number', { seqNo: 1.5 }, "'seqNo'"],
    ['a negative number', { seqNo: -1 }, "'seqNo'"],
    ['a number too large', { seqNo: 2_147_483_648 }, "'seqNo'"],
    ['no expressions', { expressionList: undefined }, "'expressionList' is required"],
    [
      'no steps',
      { expressionList: { exprList: [], computationOutput: output } },
      "'expressionList.exprList' must have at least 1 item",
    ],
    [
      'no output',
      { expressionList: { exprList: right.expressionList.exprList } },
      "'expressionList.computationOutput' is required",
    ],
    [
      'an output that is no step',
      { expressionList: expressions('1', { priceOutput: 'price' }) },
      "'expressionList.computationOutput.priceOutput': priceOutput 'price' is not the name",
    ],
    [
      'a formula that does not parse',
      { expressionList: expressions('2 * (3 +') },
      "'expressionList.exprList[0].formula': step 'total'",
    ],
    ['an unknown name', { expressionList: expressions('1 + seat') }, "'seat' is neither"],
    ['an unknown property', { colour: 'red' }, "'colour' is not a known property"],
    ['an unknown service', { serviceId: noSuchId }, "'serviceId'"],
  ];
  for (const [what, change, message] of refusals) {
    it(`are refused with ${what}`, async () => {
      const serviceId = await make();
      const { body } = await tenant.post(address, { serviceId, ...right, ...change }).expect(400);
      expect(body).to.include({ status: 400, error: 'Validation Error', path: `uri=${address}` });
      expect(body.message).to.include(message);
      const made = await add(serviceId, 1);
      if (!Object.values(change).includes(undefined)) {
        const refused = await tenant.put(`${address}/${made.id}`, change).expect(400);
        expect(refused.body.message).to.include(message);
      }
      expect(await listOf(serviceId)).to.deep.equal([made]);
    });
  }

  // spec/platform.md R12
  it('are checked, with the places of their faults, against what is there now', async () => {
    const conditions = [
      { attributeName: 'region', attributeValue: 'EU' },
      { attributeName: 'zone', attributeValue: '1' },
    ];
    const serviceId = await make({
      rateCards: [card('USD', callsRow(1, { attributeValues: conditions }))],
    });
    const good = await add(serviceId, 1, 'seats');
    const bad = await add(serviceId, 2, 'seats +\n  region * 2 +\n\n   zone');
    const check = async () =>
      (await tenant.get(`${address}/service/${serviceId}/validate`).expect(200)).body.data;
    const right = { valid: true, errors: [] };
    expect(await check()).to.deep.equal([
      { id: good.id, name: 'No. 1', seqNo: 1, ...right },
      { id: bad.id, name: 'No. 2', seqNo: 2, ...right },
    ]);
    await tenant.delete(`${services}/${serviceId}/rate-cards/USD`).expect(204);
    // "seats +" and its line break are 8 characters: region is the 11th, the 3rd of line 2.
    // Line 2 has 14 characters and a break, line 3 only a break: zone is the 8+15+1+4 = 28th.
    const fault = (name: string, position: number, line: number, column: number) => ({
      step: 'total',
      position,
      line,
      column,
      message: `'${name}' is neither an earlier step nor an attribute`,
    });
    expect(await check()).to.deep.equal([
      { id: good.id, name: 'No. 1', seqNo: 1, ...right },
      {
        id: bad.id,
        name: 'No. 2',
        seqNo: 2,
        valid: false,
        errors: [fault('region', 11, 2, 3), fault('zone', 28, 4, 4)],
      },
    ]);
  });

  it('raise the version that rating looks at', async () => {
    const serviceId = await make();
    const version = async () => {
      const query = Service.query(tenant.scope.db.read).forTenant(tenant.id);
      return Number((await query.findById(serviceId))?.ratingVersion);
    };
    const seen = [await version()];
    const { id } = await add(serviceId, 1);
    seen.push(await version());
    await tenant.put(`${address}/${id}`, { seqNo: 3 }).expect(200);
    seen.push(await version());
    await tenant.delete(`${address}/${id}`).expect(204);
    seen.push(await version());
    expect(seen).to.deep.equal([...new Set(seen)].sort((a, b) => a - b));
  });

  it('are of their service and tenant', async () => {
    const serviceId = await make();
    const other = await make();
    const made = await add(serviceId, 1);
    const moved = await tenant.put(`${address}/${made.id}`, { serviceId: other }).expect(400);
    expect(moved.body.message).to.include("'serviceId'");
    const stranger = await instance.tenant();
    for (const [client, service] of [
      [stranger, serviceId],
      [tenant, noSuchId],
      [tenant, 'nonsense'],
    ] as const) {
      await client.get(`${address}/service/${service}/all`).expect(404);
      await client.get(`${address}/service/${service}/validate`).expect(404);
    }
    await stranger.put(`${address}/${made.id}`, {}).expect(404);
    await stranger.delete(`${address}/${made.id}`).expect(404);
    await stranger.post(address, { serviceId, ...right }).expect(400);
    await tenant.put(`${address}/nonsense`, {}).expect(404);
    expect(await listOf(serviceId)).to.deep.equal([made]);
    await tenant.delete(`${services}/${serviceId}`).expect(204);
    await tenant.put(`${address}/${made.id}`, {}).expect(404);
  });
});
