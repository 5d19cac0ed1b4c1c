import { expect } from 'chai';
import { contracts, flatCard, makeLine, noSuchId } from '../../support/billing/contracts.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('attributes of contract services', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  it('are listed, added, changed and deleted', async () => {
    const { path, serviceId } = await makeLine(tenant);
    const attributes = `${path}/priceable-attributes`;
    const { body: list } = await tenant.get(attributes).expect(200);
    expect(list).to.include({ page: 0, size: 20, totalElements: 2, totalPages: 1 });
    expect(list.content[0]).to.include({ name: 'Calls', dimensionValText: null });
    const { body: made } = await tenant
      .post(attributes, {
        name: 'Tier',
        label: 'Plan',
        dimensionDataType: 'string',
        dimensionValText: 'gold',
        isContractInput: true,
        isMeterDimension: true,
        meterResetFrequency: 'half yearly',
        isProration: false,
        dimValues: [{ label: 'Gold', value: 'gold' }],
      })
      .expect(201);
    expect(made).to.deep.equal({
      id: made.id,
      name: 'Tier',
      label: 'Plan',
      dimensionDataType: 'String',
      isContractInput: true,
      isMeterDimension: true,
      meterResetFrequency: 'Half Yearly',
      isProration: false,
      aggregation: 'SUM',
      uniqueDimension: null,
      dimValues: [{ label: 'Gold', value: 'gold' }],
      dimensionValText: 'gold',
    });
    const { body: got } = await tenant.get(`${attributes}/${made.id}`).expect(200);
    expect(got).to.deep.equal(made);
    const { body: put } = await tenant
      .put(`${attributes}/${made.id}`, { ...got, dimensionValText: 'silver', label: null })
      .expect(200);
    expect(put).to.deep.equal({ ...made, dimensionValText: 'silver', label: null });
    const { body: page } = await tenant.get(`${attributes}?page=1&size=2`).expect(200);
    expect(page.content).to.deep.equal([put]);
    await tenant.delete(`${attributes}/${made.id}`).expect(204);
    await tenant.get(`${attributes}/${made.id}`).expect(404);
    await tenant.put(`${attributes}/${made.id}`, {}).expect(404);
    await tenant.delete(`${attributes}/${made.id}`).expect(404);
    // The catalog has no value of a contract.
    const catalog = `${external}/services/${serviceId}/priceable-attributes`;
    const { body: refused } = await tenant
      .post(catalog, { name: 'N', dimensionDataType: 'Number', dimensionValText: 'x' })
      .expect(400);
    expect(refused.message).to.contain('dimensionValText');
  });

  // spec/resources.md R44
  it('do not go while a current exception card prices them', async () => {
    const { path } = await makeLine(tenant, {
      priceableAttributes: [
        { name: 'A', dimensionDataType: 'Number' },
        { name: 'B', dimensionDataType: 'Number' },
      ],
      rateCards: [flatCard('USD', 1, 'A')],
    });
    const { body: line } = await tenant.get(path).expect(200);
    const [a, b] = line.priceableAttributes.map(
      ({ id }: { id: string }) => `${path}/priceable-attributes/${id}`,
    );
    const { body } = await tenant.delete(a).expect(409);
    expect(body).to.include({ status: 409, error: 'Conflict' });
    expect(body.message).to.contain("'A'");
    await tenant.delete(b).expect(204);
    await tenant.delete(`${path}/rate-cards/USD`).expect(204);
    await tenant.delete(a).expect(204);
  });

  it('are refused when wrong or taken', async () => {
    const { path } = await makeLine(tenant);
    const attributes = `${path}/priceable-attributes`;
    const { body: list } = await tenant.get(attributes).expect(200);
    const [calls, seats] = list.content;
    for (const [body, field] of [
      [{ dimensionDataType: 'Number' }, 'name'],
      [{ name: 'A' }, 'dimensionDataType'],
      [{ name: 'A', dimensionDataType: 'Money' }, 'dimensionDataType'],
      [{ name: 'A', dimensionDataType: 'Number', meterResetFrequency: 'Hourly' }, 'meterReset'],
      [{ name: 'A', dimensionDataType: 'Number', dimensionValText: 5 }, 'dimensionValText'],
      [{ name: 'A', dimensionDataType: 'Number', dimValues: [{ label: 'x' }] }, 'dimValues[0]'],
      [{ name: 'A', dimensionDataType: 'Number', kind: 'INPUT' }, 'kind'],
    ] as const) {
      const { body: answer } = await tenant.post(attributes, body).expect(400);
      expect(answer.message).to.contain(field);
    }
    const taken = { name: 'Seats', dimensionDataType: 'Number' };
    const { body: conflict } = await tenant.post(attributes, taken).expect(409);
    expect(conflict.message).to.contain('contract service');
    await tenant.put(`${attributes}/${calls.id}`, { name: 'Seats' }).expect(409);
    await tenant.put(`${attributes}/${calls.id}`, { name: null }).expect(400);
    await tenant.put(`${attributes}/${seats.id}`, { dimensionDataType: null }).expect(400);
    const { body: after } = await tenant.get(attributes).expect(200);
    expect(after).to.deep.equal(list);
    await tenant.get(`${attributes}?page=x`).expect(400);
  });

  it('belong to their line and tenant', async () => {
    const { path, contractId, serviceId } = await makeLine(tenant);
    const { body: list } = await tenant.get(`${path}/priceable-attributes`).expect(200);
    const id = list.content[0].id as string;
    const { body: service } = await tenant.get(`${external}/services/${serviceId}`).expect(200);
    // An attribute of the service is none of the line.
    const foreign = service.priceableAttributes[0].id as string;
    await tenant.get(`${path}/priceable-attributes/${foreign}`).expect(404);
    const other = await instance.tenant();
    const attribute = { name: 'A', dimensionDataType: 'Number' };
    for (const [client, attributes] of [
      [other, `${path}/priceable-attributes`],
      [tenant, `${contracts}/${contractId}/services/${noSuchId}/priceable-attributes`],
      [tenant, `${contracts}/${noSuchId}/services/${path.split('/').pop()}/priceable-attributes`],
    ] as const) {
      await client.get(attributes).expect(404);
      await client.post(attributes, attribute).expect(404);
      await client.get(`${attributes}/${id}`).expect(404);
      await client.put(`${attributes}/${id}`, { label: 'x' }).expect(404);
      await client.delete(`${attributes}/${id}`).expect(404);
    }
    const { body: after } = await tenant.get(`${path}/priceable-attributes`).expect(200);
    expect(after).to.deep.equal(list);
  });
});
