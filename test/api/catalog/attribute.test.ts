import { expect } from 'chai';
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

describe('priceable attributes', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  /** A service and the address of its attributes. */
  const make = async (fields: object = {}) => {
    const service = await makeService(tenant, { priceableAttributes: [calls], ...fields });
    const address = `${services}/${service.id}/priceable-attributes`;
    const [first] = service['priceableAttributes'] as unknown as { id: string }[];
    return { service, address, firstId: first?.id ?? '' };
  };

  // spec/resources.md R6, R43
  it('are added after the others, read and listed in pages', async () => {
    const { address } = await make({ inputAttributes: [{ ...storage, name: 'seats' }] });
    const { body } = await tenant
      .post(address, { ...storage, isMeterDimension: true, meterResetFrequency: 'DAILY' })
      .expect(201);
    expect(body).to.include({ name: 'Storage', meterResetFrequency: 'Daily', label: null });
    expect((await tenant.get(`${address}/${body.id}`).expect(200)).body).to.deep.equal(body);
    expect(body.aggregation).to.equal('SUM');
    const greatest = { ...storage, name: 'Peak', isMeterDimension: true, aggregation: 'MAX' };
    const { body: peak } = await tenant.post(address, greatest).expect(201);
    expect(peak.aggregation).to.equal('MAX');
    await tenant.delete(`${address}/${peak.id}`).expect(204);
    const { body: page } = await tenant.get(address).expect(200);
    expect(page.content.map(({ name }: { name: string }) => name)).to.deep.equal([
      'API Calls',
      'Storage',
    ]);
    expect(page).to.include({ page: 0, size: 20, totalElements: 2, totalPages: 1 });
    const { body: second } = await tenant.get(`${address}?page=1&size=1`).expect(200);
    expect(second.content).to.deep.equal([body]);
    await tenant.get(`${address}?page=-1`).expect(400);
  });

  const refusals: [string, object, string][] = [
    ['no name', { dimensionDataType: 'Number' }, "'name' is required"],
    ['no data type', { name: 'x' }, "'dimensionDataType' is required"],
    ['an unknown data type', { ...storage, dimensionDataType: 'Money' }, 'Number, String, Boolean'],
    ['an unknown frequency', { ...storage, meterResetFrequency: 'Hourly' }, 'Fortnightly'],
    ['an unknown property', { ...storage, unit: 'GB' }, "'unit' is not a known property"],
    [
      'a value that only lines have',
      { ...storage, dimensionValText: '1' },
      "'dimensionValText' is not a known property",
    ],
    [
      'an unknown property of a value',
      { ...storage, dimValues: [{ value: 'a' }, { value: 'b', note: '' }] },
      "'dimValues[1].note' is not a known property",
    ],
    ['a value without a value', { ...storage, dimValues: [{ label: 'A' }] }, 'dimValues[0].value'],
  ];
  for (const [what, body, message] of refusals) {
    // spec/resources.md R41, R45
    it(`are refused with ${what}`, async () => {
      const { address } = await make();
      const { body: answer } = await tenant.post(address, body).expect(400);
      expect(answer.message).to.include(message);
      expect((await tenant.get(address).expect(200)).body.totalElements).to.equal(1);
    });
  }

  // spec/beyond.md R307
  it('count the values of a dimension where they are metered and name it, and only there', async () => {
    const { address } = await make();
    const users = {
      ...storage,
      name: 'Users',
      isMeterDimension: true,
      aggregation: 'UNIQUE',
      uniqueDimension: 'user',
    };
    const refused = async (body: object, text: string) => {
      const { body: answer } = await tenant.post(address, body).expect(400);
      expect(answer.message).to.include(text);
    };
    await refused({ ...users, uniqueDimension: null }, 'needs the name of the dimension');
    await refused({ ...users, isMeterDimension: false }, 'isMeterDimension must be true');
    await refused({ ...users, aggregation: 'MAX' }, 'not of MAX; null clears it');
    await refused({ ...users, aggregation: undefined }, 'not of SUM; null clears it');
    const { body: made } = await tenant.post(address, users).expect(201);
    expect(made).to.include({ aggregation: 'UNIQUE', uniqueDimension: 'user' });
    const path = `${address}/${made.id}`;
    await tenant.put(path, { uniqueDimension: null }).expect(400);
    await tenant.put(path, { isMeterDimension: false }).expect(400);
    await tenant.put(path, { aggregation: 'SUM' }).expect(400);
    const { body: kept } = await tenant.get(path).expect(200);
    expect(kept).to.deep.equal(made);
    const { body: sum } = await tenant
      .put(path, { aggregation: 'SUM', uniqueDimension: null })
      .expect(200);
    expect(sum).to.include({ aggregation: 'SUM', uniqueDimension: null });
  });

  it('keep their values of any type', async () => {
    const dimValues = [{ label: null, value: 1.5 }, { value: true }, { label: 'B', value: 'b' }];
    const { address } = await make();
    const { body } = await tenant.post(address, { ...storage, dimValues }).expect(201);
    expect((await tenant.get(`${address}/${body.id}`)).body.dimValues).to.deep.equal(dimValues);
  });

  // spec/resources.md R42
  it('have names of their own on the service, whatever their kind', async () => {
    const { address, firstId } = await make({ inputAttributes: [storage] });
    await tenant.post(address, calls).expect(409);
    const { body } = await tenant.post(address, storage).expect(409);
    expect(body.message).to.include('attribute of this name');
    await tenant.put(`${address}/${firstId}`, { name: 'Storage' }).expect(409);
  });

  it('change what is given; null clears what is optional', async () => {
    const { address, firstId } = await make();
    const change = { label: 'Calls', isProration: true, isMeterDimension: true };
    const { body } = await tenant.put(`${address}/${firstId}`, change).expect(200);
    expect(body).to.include({ id: firstId, name: 'API Calls', ...change });
    const cleared = { label: null, isProration: null, isMeterDimension: null };
    const { body: after } = await tenant.put(`${address}/${firstId}`, cleared).expect(200);
    expect(after).to.include({ label: null, isProration: null, isMeterDimension: false });
    await tenant.put(`${address}/${firstId}`, { dimensionDataType: null }).expect(400);
    await tenant.put(`${address}/${firstId}`, after).expect(200, after);
  });

  it('take their new name to the rows that price them', async () => {
    const { address, firstId, service } = await make({
      rateCards: [card('USD', callsRow(1))],
    });
    await tenant.put(`${address}/${firstId}`, { name: 'Requests' }).expect(200);
    // Only a row that goes by the new name survives a replacement of the attributes.
    const put = (name: string) =>
      tenant.put(`${services}/${service.id}`, { priceableAttributes: [{ ...calls, name }] });
    await put('API Calls').expect(409);
    const { body } = await put('Requests').expect(200);
    expect(body.rateCards[0].rows[0].priceDimId).to.equal(body.priceableAttributes[0].id);
  });

  // spec/resources.md R44
  it('are not deleted while a current row prices them', async () => {
    const { address, firstId, service } = await make({
      rateCards: [card('USD', callsRow(1))],
    });
    const { body } = await tenant.delete(`${address}/${firstId}`).expect(409);
    expect(body.message).to.include("'API Calls'");
    await tenant.delete(`${services}/${service.id}/rate-cards/USD`).expect(204);
    await tenant.delete(`${address}/${firstId}`).expect(204, '');
    await tenant.get(`${address}/${firstId}`).expect(404);
    await tenant.post(address, calls).expect(201);
  });

  it('are neither renamed nor deleted while a formula names them', async () => {
    const { address, firstId, service } = await make({
      pricingLogic: [logic('Price(API Calls, 1)')],
    });
    const { body } = await tenant.delete(`${address}/${firstId}`).expect(409);
    expect(body.message).to.include("pricing logic 'Charge'");
    await tenant.put(`${address}/${firstId}`, { name: 'Requests' }).expect(409);
    await tenant.put(`${address}/${firstId}`, { label: 'x' }).expect(200);
    await tenant.put(`${services}/${service.id}`, { pricingLogic: [] }).expect(200);
    await tenant.put(`${address}/${firstId}`, { name: 'Requests' }).expect(200);
    await tenant.delete(`${address}/${firstId}`).expect(204);
  });

  it('take the place of a transaction dimension that only pricing logic made', async () => {
    const { address, service } = await make({ pricingLogic: [logic('1')] });
    const { body } = await tenant.post(address, { ...storage, name: 'Customer' }).expect(201);
    await tenant.delete(`${address}/${body.id}`).expect(204);
    // The dimension is there again: a formula may name it.
    const put = { pricingLogic: [logic('Customer')] };
    await tenant.put(`${services}/${service.id}`, put).expect(200);
  });

  it('answer 404 where service or attribute is none of the tenant', async () => {
    const { address, firstId } = await make();
    const { address: elsewhere } = await make();
    const nowhere = `${services}/${noSuchId}/priceable-attributes`;
    const stranger = await instance.tenant();
    for (const client of [tenant, stranger]) {
      const at = client === tenant ? nowhere : address;
      await client.get(at).expect(404);
      await client.get(`${at}/${firstId}`).expect(404);
      await client.post(at, calls).expect(404);
      await client.put(`${at}/${firstId}`, {}).expect(404);
      await client.delete(`${at}/${firstId}`).expect(404);
    }
    for (const id of [firstId, noSuchId, 'x']) {
      await tenant.get(`${elsewhere}/${id}`).expect(404);
      await tenant.put(`${elsewhere}/${id}`, {}).expect(404);
      await tenant.delete(`${elsewhere}/${id}`).expect(404);
    }
    await tenant.get(`${address}/${firstId}`).expect(200);
  });
});
