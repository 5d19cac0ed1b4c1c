import { expect } from 'chai';
import { createAccount, createService } from '../../support/billing/usage.js';
import { runFlow } from '../../support/billing/flows.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

// spec/beyond.md R461
describe('the approval of a record', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });

  const approval = async (id: string) => (await tenant.get(`/v1/approvals/${id}`).expect(200)).body;

  it('shows the prices of a service that was never approved, to the last digit', async () => {
    const rate = '0.012345678901234567';
    const row = { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY' };
    const priced = JSON.stringify({
      name: 'Calls',
      currency: 'USD',
      priceableAttributes: [{ name: 'api_calls', dimensionDataType: 'Number' }],
      rateCards: [{ currency: 'USD', rows: [{ ...row, unitRate: 'RATE' }] }],
    }).replace('"RATE"', rate);
    const { id } = (await tenant.post(`${external}/services`, priced).expect(201)).body;
    const { text, body } = await tenant.get(`/v1/approvals/${id}`).expect(200);
    expect(body.before).to.deep.equal({ approvalStatus: 'Draft' });
    expect(body.after).to.include({ name: 'Calls', currency: 'USD', approvalStatus: 'Approved' });
    expect(body.after).not.to.have.property('id');
    expect(body.after.priceableAttributes[0]).to.include({ name: 'api_calls' });
    expect(text).to.include(`"unitRate":${rate}`);
  });

  it('shows the lines of a contract with prices of their own, and the addresses of an account', async () => {
    const masterAccountId = await createAccount(tenant, 'acme');
    const calls = await createService(tenant, 'Calls');
    const storage = await createService(tenant, 'Storage');
    const row = { priceDimName: 'api_calls', label: 'Own', priceMethod: 'QUANTITY', unitRate: 0.5 };
    const { id } = (
      await tenant
        .post(`${external}/contracts`, {
          masterAccountId,
          name: 'Terms',
          services: [
            { serviceId: calls },
            { serviceId: storage, rateCards: [{ currency: 'USD', rows: [row] }] },
          ],
        })
        .expect(201)
    ).body;
    const { after } = await approval(id);
    expect(after).to.include({ name: 'Terms', masterAccountId });
    const [ofCatalog, own] = after.services;
    expect(ofCatalog).not.to.have.property('rateCards');
    expect(own.rateCards[0].rows[0]).to.include({ label: 'Own', unitRate: 0.5 });
    const account = await approval(masterAccountId);
    expect(account.after.addresses).to.be.an('array');
    expect(account.before).to.deep.equal({ approvalStatus: 'Draft' });
  });

  it('shows what of a record was approved last beside what it became', async () => {
    const masterAccountId = await createAccount(tenant, 'acme');
    const made = { masterAccountId, name: 'Old terms', totalPrice: 12.5, startDate: '2026-01-01' };
    const { id } = (await tenant.post(`${external}/contracts`, made).expect(201)).body;
    await runFlow(tenant, 'contract/approve', { ID_Contract: id });
    const edited = { id, name: 'New terms', description: 'Negotiated' };
    await tenant.post(`${external}/run/billing/contract/edit?draftMode=true`, edited).expect(200);
    await tenant.get(`/v1/approvals/${id}`).expect(404);
    await runFlow(tenant, 'contract/edit', { id, total_price: 13 });
    const { status, before, after } = await approval(id);
    expect(status).to.equal('pending');
    const stays = { masterAccountId, startDate: '2026-01-01' };
    expect(before).to.include({ ...stays, approvalStatus: 'Draft', name: 'Old terms' });
    expect(before).to.include({ totalPrice: 12.5, description: null });
    expect(after).to.include({ ...stays, approvalStatus: 'Approved', name: 'New terms' });
    expect(after).to.include({ totalPrice: 13, description: 'Negotiated' });
    expect(Object.keys(after)).to.deep.equal(Object.keys(before));
    await tenant.post(`/v1/approvals/${id}`, { decision: 'approve' }).expect(200);
    expect((await approval(id)).after).to.have.all.keys('approvalStatus', 'approvedBy');
  });
});
