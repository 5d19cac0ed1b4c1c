import { expect } from 'chai';
import { onboarding, runFlow } from '../support/billing/flows.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const run = `${external}/run/billing`;
const noSuchId = '0190a000-0000-7000-8000-000000000000';

describe('drafts and repeated flows', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  const call = (slug: string, start: object, status?: number) =>
    runFlow(tenant, slug, start, status);

  describe('draftMode', () => {
    const draft = async (slug: string, body: object, status = 200) =>
      (await tenant.post(`${run}/${slug}?draftMode=true`, body).expect(status)).body;

    // spec/flows.md R19, R20
    it('keeps the input on the record and runs no further steps until it is completed', async () => {
      const { output } = await draft('account/create', onboarding({ ExternalId: 'drafted' }));
      expect(output).to.include({ externalId: 'drafted', approvalStatus: 'Draft', draft: true });
      expect(output.addresses).to.deep.equal([]);
      const refused = await call('account/approve', { ID_Account: output.id }, 409);
      expect(refused.message).to.include('draft');
      const completed = await call('account/edit', { id: output.id, name: 'Completed' });
      expect(completed.output).to.include({ id: output.id, name: 'Completed' });
      expect(completed.output).to.not.have.property('draft');
      expect(completed.output.addresses[0]).to.include({ line1: '1 Main Street' });
      await call('account/approve', { ID_Account: output.id });
    });

    // spec/flows.md R20
    it('is completed by the same call with the id, too', async () => {
      const { output } = await draft('account/create', onboarding());
      const body = { ...onboarding({ City: 'Shelbyville' }), id: output.id };
      const completed = await call('account/create', body);
      expect(completed.output.id).to.equal(output.id);
      expect(completed.output.addresses[0]).to.include({ city: 'Shelbyville' });
      const again = await call('account/create', body, 404);
      expect(again.message).to.include('no draft');
    });

    it('of a change is completed by the next change, and brings no contact and address', async () => {
      const account = await tenant.post(`${external}/accounts`, { name: 'Plain' }).expect(201);
      const { id } = account.body;
      const { output } = await draft('account/edit', { id, name: 'Drafted' });
      expect(output).to.include({ name: 'Drafted', approvalStatus: 'Draft', draft: true });
      const completed = await call('account/edit', { id });
      expect(completed.output).to.deep.equal({ ...account.body, name: 'Drafted' });
    });

    // spec/flows.md R19
    it('validates as any call does', async () => {
      await draft('account/create', onboarding({ City: undefined }), 400);
      await draft('contract/create', { name: 'x', master_account_id: 'nobody' }, 400);
    });

    it('leaves a payment unapproved until it is completed', async () => {
      await call('account/create', onboarding({ ExternalId: 'draft payer' }));
      const body = {
        account_id: 'draft payer',
        amount: 5,
        currency_id: 'USD',
        payment_date: '2026-04-30',
        payment_method: 'Cash',
        payment_reference: 'DRAFT-1',
      };
      const { output } = await draft('payment/create', body);
      expect(output).to.include({ approvalStatus: 'Draft', draft: true });
      const completed = await call('payment/edit', { id: output.id });
      expect(completed.output).to.include({ approvalStatus: 'Approved' });
    });

    // spec/flows.md R21
    it('deletes, approves and copies nothing', async () => {
      const { output: service } = await call('service/create', { name: 'Undone' });
      for (const [slug, body] of [
        ['service/delete', { id: service.id }],
        ['service/approve', { ID_Service: service.id }],
        ['service/clone', { Service_ID: service.id }],
      ] as const) {
        const { output } = await draft(slug, body);
        expect(output, slug).to.include({ id: service.id, draft: true, approvalStatus: 'Draft' });
      }
      expect(
        (await tenant.get(`${external}/services?q=Undone`).expect(200)).body.data.totalElements,
      ).to.equal(1);
    });
  });

  // spec/flows.md R33
  it('an Idempotency-Key of another request is refused', async () => {
    const keyed = (path: string, body: object) =>
      tenant.post(path, body).set('Idempotency-Key', 'of-another');
    const service = (await call('service/create', { name: 'Keyed' })).output.id as string;
    await keyed(`${run}/service/clone`, { Service_ID: service }).expect(200);
    await keyed(`${run}/service/clone`, { Service_ID: 'Keyed' }).expect(409);
    await keyed(`${run}/payment/delete`, { id: noSuchId }).expect(409);
    await keyed('/v1/workflows/service-clone/execute', { data: { Service_ID: 'Keyed' } }).expect(
      409,
    );
  });
});
