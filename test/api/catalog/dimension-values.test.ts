import { expect } from 'chai';
import { contracts, lines, makeAccount, makeService } from '../../support/billing/contracts.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

interface Attribute {
  readonly name: string;
  readonly dimensionValText: string | null;
}

describe('values of dimensions on lines of contracts', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  /** A line with values, as it is read. */
  async function addLine(dimensionValues: object, more: object = {}) {
    const masterAccountId = await makeAccount(tenant);
    const line = { serviceId: await makeService(tenant), dimensionValues, ...more };
    const { body } = await tenant
      .post(contracts, { masterAccountId, services: [line] })
      .expect(201);
    return { contractId: body.id as string, id: body.services[0].id as string, ...line };
  }
  const read = async (id: string) => (await tenant.get(`${lines}/${id}`).expect(200)).body;
  const textsOf = (line: { priceableAttributes: Attribute[] }) =>
    Object.fromEntries(line.priceableAttributes.map((each) => [each.name, each.dimensionValText]));

  it('are those of its attributes, whichever request adds the line', async () => {
    const { contractId, id, serviceId } = await addLine({ Seats: 7, Note: { any: 'thing' } });
    const line = await read(id);
    expect(line.dimensionValues).to.deep.equal({ Seats: 7, Note: { any: 'thing' } });
    expect(textsOf(line)).to.deep.equal({ Calls: null, Seats: '7' });
    const { body: added } = await tenant
      .post(`${contracts}/${contractId}/services`, { serviceId, dimensionValues: { Seats: '2.5' } })
      .expect(201);
    expect(textsOf(added)).to.deep.equal({ Calls: null, Seats: '2.5' });
  });

  it('are changed and taken away by a PUT, and kept by one that does not name them', async () => {
    const { id } = await addLine({ Seats: '7', Calls: 1 });
    const put = async (body: object) =>
      textsOf((await tenant.put(`${lines}/${id}`, body).expect(200)).body);
    expect(await put({ endDate: '2030-12-31' })).to.deep.equal({ Calls: '1', Seats: '7' });
    expect(await put({ dimensionValues: { Seats: '9' } })).to.deep.equal({
      Calls: null,
      Seats: '9',
    });
    const seats = { name: 'Seats', dimensionDataType: 'Number', isProration: true };
    expect(await put({ priceableAttributes: [seats] })).to.deep.equal({ Seats: '9' });
    expect(await put({ dimensionValues: null })).to.deep.equal({ Seats: null });
  });

  it('say the same as its attributes, of which a PUT may change what was read', async () => {
    const { id } = await addLine({ Seats: '7' });
    const line = await read(id);
    const edited = line.priceableAttributes.map((each: Attribute) => ({
      ...each,
      dimensionValText: each.name === 'Seats' ? '8' : null,
    }));
    const address = `${lines}/${id}`;
    const { body } = await tenant
      .put(address, { ...line, priceableAttributes: edited })
      .expect(200);
    expect(textsOf(body)).to.deep.equal({ Calls: null, Seats: '8' });
    const both = { dimensionValues: { Seats: '9' }, priceableAttributes: edited };
    const { body: refused } = await tenant.put(address, both).expect(400);
    expect(refused.message).to.include("'dimensionValues.Seats' is '9'").and.to.include("'8'");
  });

  it('are of the types of their attributes', async () => {
    const [masterAccountId, serviceId] = [await makeAccount(tenant), await makeService(tenant)];
    const services = [{ serviceId, dimensionValues: { Seats: 'many' } }];
    const { body } = await tenant.post(contracts, { masterAccountId, services }).expect(400);
    expect(body.message).to.include("'services[0].dimensionValues.Seats' must be a number");
  });
});
