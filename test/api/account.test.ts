import { expect } from 'chai';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/instance.js';

describe('accounts', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance();
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('creates an account with its addresses and canonical names', async () => {
    const { body } = await tenant
      .post(`${external}/accounts`, {
        name: 'Acme',
        externalId: 'acme-1',
        netTerm: 'net 30',
        defaultCurrency: 'us dollar',
        addresses: [
          { line1: '1 Main St', country: 'USA' },
          { line1: 'Rue 2', country: 'France' },
        ],
      })
      .expect(201);
    expect(body).to.include({ name: 'Acme', netTerm: 'Net 30', defaultCurrency: 'USD' });
    expect(body.addresses.map((address: { country: string }) => address.country)).to.deep.equal([
      'United States of America',
      'France',
    ]);
    const { body: row } = await tenant.get(`${external}/accounts/${body.id}`).expect(200);
    expect(row.success).to.equal(true);
    expect(row.data).to.include({ __type__: 'Account', Id: body.id, Name: 'Acme' });
    expect(row.data.Status__r).to.deep.equal({ Name: 'Active' });
    expect(row.data).to.not.have.property('Addresses');
  });
});
