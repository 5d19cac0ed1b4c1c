import { expect } from 'chai';
import { accounts, makeAccount, noSuchId } from '../../support/billing/accounts.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('changes of accounts', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const create = (body: object) => makeAccount(tenant, body);
  const read = async (id: string) => (await tenant.get(`${accounts}/${id}`).expect(200)).body.data;

  describe('update', () => {
    // spec/resources.md R17, R33
    it('takes back what it gave', async () => {
      const created = await create({
        name: 'Round',
        number: 'R-1',
        netTerm: 'Net 15',
        contactInfoList: [{ a: 1 }],
        addresses: [{ line1: 'one', country: 'IN' }, { line1: 'two' }],
      });
      const { body } = await tenant
        .put(`${accounts}/${created.id}`, { ...created, name: 'Round trip' })
        .expect(200);
      const withoutIds = (account: { addresses: readonly object[] }) => ({
        ...account,
        addresses: account.addresses.map((address) => ({ ...address, id: '' })),
      });
      expect(withoutIds(body)).to.deep.equal({
        ...withoutIds(created),
        name: 'Round trip',
      });
      expect(body.addresses[0].id).to.not.equal(created.addresses[0].id);
    });

    // spec/resources.md R18
    it('keeps what is left out and clears what is null', async () => {
      const { id } = await create({
        name: 'Keep',
        number: 'K-1',
        externalId: 'keep',
        isMaster: true,
        billingDay: 5,
        addresses: [{ line1: 'one' }],
      });
      const { body: kept } = await tenant.put(`${accounts}/${id}`, {}).expect(200);
      expect(kept).to.include({ number: 'K-1', isMaster: true, billingDay: 5 });
      expect(kept.addresses).to.have.length(1);
      const { body: cleared } = await tenant
        .put(`${accounts}/${id}`, {
          number: null,
          externalId: null,
          isMaster: null,
          billingDay: null,
          addresses: null,
        })
        .expect(200);
      expect(cleared).to.include({
        name: 'Keep',
        number: null,
        externalId: null,
        isMaster: false,
        billingDay: null,
      });
      expect(cleared.addresses).to.deep.equal([]);
    });

    // spec/resources.md R18
    it('refuses a name of null, a taken key, another account id and what is not there', async () => {
      const { id } = await create({ name: 'U' });
      await create({ name: 'V', number: 'V-1', externalId: 'v-1' });
      await tenant.put(`${accounts}/${id}`, { name: null }).expect(400);
      await tenant.put(`${accounts}/${id}`, { number: 'V-1' }).expect(409);
      await tenant.put(`${accounts}/${id}`, { externalId: 'v-1' }).expect(409);
      const { body } = await tenant
        .put(`${accounts}/${id}`, { name: 'W', addresses: [{ line1: 'x', accountId: noSuchId }] })
        .expect(400);
      expect(body.message).to.contain('addresses[0].accountId');
      expect(await read(id)).to.include({ Name: 'U', Number: null });
      await tenant.put(`${accounts}/${noSuchId}`, { name: 'W' }).expect(404);
      await tenant.put(`${accounts}/nonsense`, { name: 'W' }).expect(404);
    });
  });

  describe('activate and deactivate', () => {
    // spec/resources.md R9, R30
    it('set the status and answer with the row', async () => {
      const { id } = await create({ name: 'Status' });
      for (const [verb, status] of [
        ['deactivate', 'Inactive'],
        ['deactivate', 'Inactive'],
        ['activate', 'Active'],
      ] as const) {
        const { body } = await tenant.put(`${accounts}/${id}/${verb}`).expect(200);
        expect(body.data).to.include({ __type__: 'Account', Id: id });
        expect(body.data.Status__r).to.deep.equal({ Name: status });
        expect((await read(id)).Status__r).to.deep.equal({ Name: status });
      }
      await tenant.put(`${accounts}/${noSuchId}/activate`).expect(404);
      await tenant.put(`${accounts}/${noSuchId}/deactivate`).expect(404);
    });
  });

  describe('tax labels', () => {
    // spec/resources.md R31
    it('are set by either spelling, one by one, and cleared by null', async () => {
      const { id } = await create({ name: 'Tax' });
      const path = `${accounts}/${id}/tax-labels`;
      const { body } = await tenant.put(path, { gst: 'G1', PAN: 'P1' }).expect(200);
      expect(body.data).to.include({ __type__: 'Account', Gst: 'G1', Pan: 'P1', Cin: null });
      await tenant.put(path, { CIN: 'C1', cin: 'C1', pan: null }).expect(200);
      expect(await read(id)).to.include({ Gst: 'G1', Pan: null, Cin: 'C1' });
      await tenant.put(path, {}).expect(200);
      expect(await read(id)).to.include({ Gst: 'G1', Cin: 'C1' });
    });

    it('are refused when the spellings differ, are unknown or the account is', async () => {
      const { id } = await create({ name: 'Tax 2' });
      const path = `${accounts}/${id}/tax-labels`;
      const { body } = await tenant.put(path, { gst: 'a', GST: 'b' }).expect(400);
      expect(body.message).to.contain('gst').and.to.contain('GST');
      await tenant.put(path, { gst: 'a', GST: null }).expect(400);
      await tenant.put(path, { vat: 'a' }).expect(400);
      await tenant.put(path, { gst: ' ' }).expect(400);
      expect(await read(id)).to.include({ Gst: null });
      await tenant.put(`${accounts}/${noSuchId}/tax-labels`, { gst: 'a' }).expect(404);
    });
  });

  describe('delete', () => {
    // spec/resources.md R26, R34
    it('hides the account and its addresses and frees its keys', async () => {
      const created = await create({
        name: 'Gone',
        number: 'G-1',
        externalId: 'gone',
        addresses: [{ line1: 'x' }],
      });
      const path = `${accounts}/${created.id}`;
      const { text } = await tenant.delete(path).expect(204);
      expect(text).to.equal('');
      await tenant.get(path).expect(404);
      await tenant.get(`${accounts}/by-external-id/gone`).expect(404);
      await tenant.get(`${path}/addresses`).expect(404);
      await tenant.get(`${path}/addresses/${created.addresses[0].id}`).expect(404);
      await tenant.put(path, { name: 'x' }).expect(404);
      await tenant.put(`${path}/activate`).expect(404);
      await tenant.post(`${path}/addresses`, { line1: 'x' }).expect(404);
      await tenant.delete(path).expect(404);
      const { body } = await tenant.get(`${accounts}?q=G-1`).expect(200);
      expect(body.data.totalElements).to.equal(0);
      await create({ name: 'Again', number: 'G-1', externalId: 'gone' });
    });

    // spec/resources.md R34
    it('is refused while the account has a contract', async () => {
      const { id } = await create({ name: 'Bound' });
      const { body: contract } = await tenant
        .post(`${external}/contracts`, { masterAccountId: id, number: 'BOUND-1' })
        .expect(201);
      const { body } = await tenant.delete(`${accounts}/${id}`).expect(409);
      expect(body.message).to.contain('BOUND-1');
      await tenant.delete(`${external}/contracts/${contract.id}`).expect(204);
      await tenant.delete(`${accounts}/${id}`).expect(204);
    });
  });

  it('raises the rating version with every change of what rating may know', async () => {
    const { id } = await create({ name: 'Version' });
    const version = async () => {
      const row = await tenant.scope.db.read('account').where({ id }).first<{
        ratingVersion: string;
      }>('ratingVersion');
      return Number(row.ratingVersion);
    };
    let last = await version();
    const path = `${accounts}/${id}`;
    for (const change of [
      () => tenant.put(path, { name: 'Version 2' }).expect(200),
      () => tenant.put(`${path}/deactivate`).expect(200),
      () => tenant.put(`${path}/activate`).expect(200),
      () => tenant.put(`${path}/tax-labels`, { gst: 'x' }).expect(200),
      () => tenant.delete(path).expect(204),
    ]) {
      await change();
      const now = await version();
      expect(now).to.be.greaterThan(last);
      last = now;
    }
  });

  it('is for tenants that are asked for: another tenant sees and changes nothing', async () => {
    const created = await create({ name: 'Mine', addresses: [{ line1: 'x' }] });
    const other = await instance.tenant();
    const path = `${accounts}/${created.id}`;
    const address = `${path}/addresses/${created.addresses[0].id}`;
    await other.get(path).expect(404);
    await other.put(path, { name: 'Theirs' }).expect(404);
    await other.put(`${path}/deactivate`).expect(404);
    await other.put(`${path}/tax-labels`, { gst: 'x' }).expect(404);
    await other.delete(path).expect(404);
    await other.get(address).expect(404);
    await other.put(address, { line1: 'y' }).expect(404);
    await other.delete(address).expect(404);
    await other.post(`${path}/addresses`, { line1: 'y' }).expect(404);
    const { body } = await tenant.get(path).expect(200);
    expect(body.data).to.include({ Name: 'Mine', Gst: null });
  });
});
