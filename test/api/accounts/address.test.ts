import { expect } from 'chai';
import { accounts, makeAccount, noSuchId } from '../../support/billing/accounts.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('addresses of accounts', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const create = (body: object) => makeAccount(tenant, body);

  // spec/resources.md R32
  it('are added, listed in order, changed and deleted', async () => {
    const { id } = await create({ name: 'Addr', addresses: [{ line1: 'first' }] });
    const path = `${accounts}/${id}/addresses`;
    const { body: second } = await tenant
      .post(path, { line1: 'second', country: 'GBR', accountId: id.toUpperCase() })
      .expect(201);
    expect(second).to.include({ accountId: id, line1: 'second', city: null });
    expect(second.country).to.equal('United Kingdom');
    const { body: listed } = await tenant.get(path).expect(200);
    expect(listed).to.include({ page: 0, size: 20, totalElements: 2, totalPages: 1 });
    const lines = listed.content.map((address: { line1: string }) => address.line1);
    expect(lines).to.deep.equal(['first', 'second']);
    const { body: page } = await tenant.get(`${path}?page=1&size=1`).expect(200);
    expect(page).to.include({ page: 1, size: 1, totalElements: 2, totalPages: 2 });
    expect(page.content).to.deep.equal([second]);

    const { body: got } = await tenant.get(`${path}/${second.id}`).expect(200);
    expect(got).to.deep.equal(second);
    const { body: put } = await tenant
      .put(`${path}/${second.id}`, { ...got, city: 'London', country: null })
      .expect(200);
    expect(put).to.deep.equal({ ...second, city: 'London', country: null });
    const { body: kept } = await tenant.put(`${path}/${second.id}`, { line2: 'b' }).expect(200);
    expect(kept).to.deep.equal({ ...put, line2: 'b' });

    await tenant.delete(`${path}/${second.id}`).expect(204);
    await tenant.get(`${path}/${second.id}`).expect(404);
    await tenant.put(`${path}/${second.id}`, {}).expect(404);
    await tenant.delete(`${path}/${second.id}`).expect(404);
    const { body: left } = await tenant.get(path).expect(200);
    expect(left.totalElements).to.equal(1);
  });

  // spec/resources.md R32
  it('are refused where a field is wrong', async () => {
    const { id } = await create({ name: 'Addr 2' });
    const path = `${accounts}/${id}/addresses`;
    const { body: address } = await tenant.post(path, { line1: 'x' }).expect(201);
    for (const [body, field] of [
      [{}, 'line1'],
      [{ line1: null }, 'line1'],
      [{ line1: 'x', country: 'Nowhere' }, 'country'],
      [{ line1: 'x', accountId: noSuchId }, 'accountId'],
      [{ line1: 'x', accountId: 'nonsense' }, 'accountId'],
      [{ line1: 'x', zip: '1' }, 'zip'],
      [{ line1: 'x', zipCode: 10001 }, 'zipCode'],
    ] as const) {
      const { body: posted } = await tenant.post(path, body).expect(400);
      expect(posted.message).to.contain(field);
      if (!('line1' in body)) continue;
      const { body: put } = await tenant.put(`${path}/${address.id}`, body).expect(400);
      expect(put.message).to.contain(field);
    }
    const { body: listed } = await tenant.get(path).expect(200);
    expect(listed.content).to.deep.equal([address]);
  });

  it('are found under their own account only', async () => {
    const { id } = await create({ name: 'Addr 3' });
    const other = await create({ name: 'Addr 4', addresses: [{ line1: 'x' }] });
    const foreign = other.addresses[0].id;
    const path = `${accounts}/${id}/addresses/${foreign}`;
    await tenant.get(path).expect(404);
    await tenant.put(path, { line1: 'y' }).expect(404);
    await tenant.delete(path).expect(404);
    await tenant.get(`${accounts}/${noSuchId}/addresses`).expect(404);
    await tenant.post(`${accounts}/${noSuchId}/addresses`, { line1: 'x' }).expect(404);
    await tenant.get(`${accounts}/${id}/addresses/nonsense`).expect(404);
    await tenant.get(`${accounts}/${id}/addresses?size=x`).expect(400);
    const { body } = await tenant.get(`${accounts}/${other.id}/addresses`).expect(200);
    expect(body.content[0]).to.include({ id: foreign, line1: 'x' });
  });
});
