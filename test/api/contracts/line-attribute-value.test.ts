import { expect } from 'chai';
import { contracts, makeLine } from '../../support/billing/contracts.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

// docs/decisions/0315
describe('the value of an attribute of a line', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const wrong = { name: 'Own', dimensionDataType: 'number', dimensionValText: 'many' };
  const right = { ...wrong, dimensionValText: '7.5' };

  it('is refused when it is not of its type', async () => {
    const { path, contractId, serviceId, masterAccountId } = await makeLine(tenant);
    const attributes = `${path}/priceable-attributes`;
    const { body: list } = await tenant.get(attributes).expect(200);
    const [calls] = list.content;
    const { body: put } = await tenant
      .put(`${attributes}/${calls.id}`, { dimensionValText: 'many' })
      .expect(400);
    expect(put.message).to.contain("'dimensionValText' must be a number, not 'many'");
    const { body: same } = await tenant.get(`${attributes}/${calls.id}`).expect(200);
    expect(same).to.deep.equal(calls);
    const { body: added } = await tenant.post(attributes, wrong).expect(400);
    expect(added.message).to.contain("'dimensionValText' must be a number, not 'many'");
    const nested = { priceableAttributes: [{ ...right, name: 'Other' }, wrong] };
    const lines = `${contracts}/${contractId}/services`;
    for (const { body } of [
      await tenant.put(path, nested).expect(400),
      await tenant.post(lines, { serviceId, ...nested }).expect(400),
      await tenant
        .post(contracts, { masterAccountId, services: [{ serviceId, ...nested }] })
        .expect(400),
    ]) {
      expect(body.message).to.match(
        /'(services\[0\]\.)?priceableAttributes\[1\]\.dimensionValText' must be a number, not 'many'/,
      );
    }
    await tenant.put(path, { priceableAttributes: [right] }).expect(200);
  });

  it('is of the type that comes with it, and may be cleared', async () => {
    const { path } = await makeLine(tenant);
    const attributes = `${path}/priceable-attributes`;
    const { body: made } = await tenant.post(attributes, right).expect(201);
    const item = `${attributes}/${made.id}`;
    await tenant.put(item, { dimensionDataType: 'Boolean' }).expect(400);
    const text = { dimensionDataType: 'String', dimensionValText: 'many' };
    await tenant.put(item, text).expect(200);
    await tenant.put(item, { dimensionDataType: 'Number' }).expect(400);
    await tenant.put(item, { dimensionDataType: 'Number', dimensionValText: null }).expect(200);
  });
});
