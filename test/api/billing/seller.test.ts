import { expect } from 'chai';
import { getSeller, setSeller } from '../../../src/access/tenants.js';
import { useInstance } from '../../support/servers/use-instance.js';

describe('the seller of a tenant', () => {
  const instance = useInstance();

  const refusalOf = (tenantId: string, changes: Parameters<typeof setSeller>[2]) =>
    setSeller(instance.platform.database.platform, tenantId, changes).then(
      () => 'set',
      (error: unknown) => (error as Error).message,
    );

  it('keeps what is left out, and loses what is set to nothing', async () => {
    const { id } = await instance.tenant();
    const db = instance.platform.database.platform;
    expect(await getSeller(db, id)).to.equal(undefined);
    await setSeller(db, id, { name: ' Acme GmbH ', country: 'DE', vatId: 'DE123456789' });
    await setSeller(db, id, { city: 'Berlin', vatId: ' ' });
    expect(await getSeller(db, id)).to.deep.equal({
      name: 'Acme GmbH',
      city: 'Berlin',
      country: 'DE',
      vatId: null,
      street: null,
      street2: null,
      zipCode: null,
      registration: null,
      paymentText: null,
      iban: null,
      bic: null,
      usageAppendix: false,
    });
  });

  it('has a name, a tenant, and a VAT identifier of its country', async () => {
    const { id } = await instance.tenant();
    expect(await refusalOf(id, { name: ' ' })).to.equal('A seller needs a name.');
    expect(await refusalOf('nobody', { name: 'X' })).to.include("There is no tenant 'nobody'");
    expect(await refusalOf(id, { iban: 'DE89 3704 0044 0532 0130 01' })).to.include('is no IBAN');
    expect(await refusalOf(id, { iban: 'de89 3704 0044 0532 0130 00' })).to.equal('set');
    expect(await getSeller(instance.platform.database.platform, id)).to.include({
      iban: 'DE89370400440532013000',
    });
    expect(await refusalOf(id, { country: 'FR', vatId: 'DE1' })).to.include('DE1');
    expect(await refusalOf(id, { country: 'GR', vatId: 'EL123456789' })).to.equal('set');
    expect(await getSeller(instance.platform.database.platform, id)).to.include({ country: 'GR' });
  });
});
