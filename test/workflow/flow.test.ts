import { expect } from 'chai';
import { onboarding, runFlow } from '../support/billing/flows.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const noSuchId = '0190a000-0000-7000-8000-000000000000';

describe('flows by slug', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  const call = (slug: string, start: object, status?: number) =>
    runFlow(tenant, slug, start, status);

  // spec/flows.md R3
  it('know a slug only as it is written', async () => {
    for (const slug of ['account/Create', 'Account/create', 'account/created']) {
      await call(slug, onboarding(), 404);
    }
  });

  describe('account/create', () => {
    // spec/flows.md R2, R14
    it('makes the account, its contact and its address', async () => {
      const body = onboarding({ ExternalId: 'ext-1', Line2: 'Floor 2' });
      const { output, flowExecutionId } = await call('account/create', body);
      expect(flowExecutionId).to.equal(output.id);
      expect(output).to.include({
        name: body.Company_Name,
        externalId: 'ext-1',
        defaultCurrency: 'USD',
        approvalStatus: 'Draft',
        status: 'Active',
      });
      expect(output.contactInfoList).to.deep.equal([{ firstName: 'Ann', lastName: 'Miller' }]);
      expect(output.addresses).to.have.length(1);
      expect(output.addresses[0]).to.include({
        line1: '1 Main Street',
        line2: 'Floor 2',
        country: 'United States of America',
        zipCode: '62701',
      });
    });

    // spec/flows.md R8, R14, R15
    it('takes Name for its name, and refuses a second account of one ExternalId', async () => {
      const body = onboarding({ ExternalId: 'ext-2', Name: 'Own name' });
      expect((await call('account/create', body)).output.name).to.equal('Own name');
      const refused = await call('account/create', body, 409);
      expect(refused.message).to.include('ExternalId').and.not.include('externalId');
      expect(refused.flowExecutionId).to.match(/^[0-9a-f-]{36}$/);
    });

    // spec/flows.md R4
    it('names the field that is missing, unknown, in another letter case or ill-typed', async () => {
      const faults: [object, string][] = [
        [onboarding({ City: undefined }), 'City'],
        [onboarding({ city: 'x' }), 'city'],
        [onboarding({ Colour: 'red' }), 'Colour'],
        [onboarding({ City: 5 }), 'City'],
        [onboarding({ Country: 'Atlantis' }), 'Country'],
        [onboarding({ Currency: 'XXX' }), 'Currency'],
      ];
      for (const [body, field] of faults) {
        expect((await call('account/create', body, 400)).message, field).to.include(`'${field}'`);
      }
    });
  });

  // spec/flows.md R3
  it('an unknown slug is 404', async () => {
    await call('account/fly', {}, 404);
    await call('nothing/at/all', {}, 404);
  });

  describe('account/edit', () => {
    // spec/flows.md R16
    it('changes what is given, and nothing else', async () => {
      const { output: account } = await call('account/create', onboarding());
      const { output } = await call('account/edit', {
        id: account.id,
        name: 'New name',
        account_no: 'A-77',
        currency: 'Euro',
        net_term: 'net 45',
        account_status: 'inactive',
        customer_type: 'business',
        description: 'Good customer',
        kyc_flag: true,
        billing_day: 5,
        credit_limit: 1000.25,
        gst: 'G-1',
      });
      expect(output).to.include({
        id: account.id,
        name: 'New name',
        number: 'A-77',
        defaultCurrency: 'EUR',
        netTerm: 'Net 45',
        status: 'Inactive',
        billingDay: 5,
        gst: 'G-1',
      });
      expect(output.profile).to.deep.equal({
        organization: account.profile.organization,
        firstName: 'Ann',
        lastName: 'Miller',
        customerType: 'Business',
        description: 'Good customer',
        kycFlag: true,
        creditLimit: 1000.25,
      });
      expect(output.addresses).to.deep.equal(account.addresses);
    });

    // spec/flows.md R5
    it('takes the id of a currency too, clears with null, and knows its account', async () => {
      const { output: account } = await call('account/create', onboarding());
      const { body } = await tenant.get(`${external}/currencies?q=EUR`).expect(200);
      const id = body.content.find((one: { code: string }) => one.code === 'EUR').id;
      const changed = await call('account/edit', { id: account.id, currency: id });
      expect(changed.output.defaultCurrency).to.equal('EUR');
      const renamed = await call('account/edit', { id: account.id, last_name: 'Lee' });
      expect(renamed.output.profile).to.include({ firstName: 'Ann', lastName: 'Lee' });
      expect(renamed.output.contactInfoList).to.deep.equal([{ firstName: 'Ann', lastName: 'Lee' }]);
      const cleared = await call('account/edit', { id: account.id, first_name: null });
      expect(cleared.output.profile).to.not.have.property('firstName');
      expect(cleared.output.contactInfoList).to.deep.equal([{ lastName: 'Lee' }]);
      const untouched = await call('account/edit', {
        id: account.id,
        currency: 'USD',
        email: null,
      });
      expect(untouched.output.defaultCurrency).to.equal('USD');
      await call('account/edit', { id: noSuchId, name: 'x' }, 404);
      await call('account/edit', { id: account.id, currency: 'Gold' }, 400);
      await call('account/edit', { name: 'x' }, 400);
    });
  });

  describe('approvals', () => {
    // spec/flows.md R17
    it('move Draft to Approved, once, and say who approved', async () => {
      const { output: account } = await call('account/create', onboarding());
      const { output } = await call('account/approve', { ID_Account: account.id });
      expect(output).to.include({ id: account.id, approvalStatus: 'Approved' });
      const again = await call('account/approve', { ID_Account: account.id }, 409);
      expect(again.message).to.include('approved already');
      await call('account/approve', { ID_Account: noSuchId }, 404);
      const { rows } = await instance.platform.database
        .forTenant(tenant.id, { actor: 'x', requestId: 'x' })
        .read.raw<{ rows: { approvedBy: string }[] }>(
          'select approved_by as "approvedBy" from account where id = ?',
          [account.id],
        );
      expect(rows[0]?.approvedBy).to.equal('tester');
    });

    it('refuse what is Inactive', async () => {
      const { output: account } = await call('account/create', onboarding());
      await tenant.put(`${external}/accounts/${account.id as string}/deactivate`).expect(200);
      const { message } = await call('account/approve', { ID_Account: account.id }, 409);
      expect(message).to.include('Inactive');
    });

    // spec/resources.md R53
    it('of a service make versions of its rate cards', async () => {
      const card = (unitRate: number) => ({
        currency: 'USD',
        rows: [{ label: 'Calls', priceDimName: 'calls', priceMethod: 'QUANTITY', unitRate }],
      });
      const { output: service } = await call('service/create', { name: 'Versions' });
      const path = `${external}/services/${service.id as string}`;
      await tenant
        .post(`${path}/priceable-attributes`, { name: 'calls', dimensionDataType: 'Number' })
        .expect(201);
      await tenant.post(`${path}/rate-cards`, card(1)).expect(201);
      await tenant.put(`${path}/rate-cards/USD`, card(2)).expect(200);
      await call('service/approve', { ID_Service: service.id });
      const { body } = await tenant.put(`${path}/rate-cards/USD`, card(3)).expect(200);
      expect(body).to.include({ versionNo: 2, isCurrent: true });
    });

    // spec/flows.md R17
    it('of contracts follow the same rules', async () => {
      const { output: account } = await call('account/create', onboarding());
      const { output: contract } = await call('contract/create', {
        name: 'C',
        master_account_id: account.id,
      });
      const { output } = await call('contract/approve', { ID_Contract: contract.id });
      expect(output).to.include({ id: contract.id, approvalStatus: 'Approved' });
      await call('contract/approve', { ID_Contract: contract.id }, 409);
    });
  });

  // spec/flows.md R2, R5, R7
  it('contracts: made with natural keys, changed, deleted', async () => {
    const { output: account } = await call('account/create', onboarding({ ExternalId: 'natural' }));
    const { output } = await call('contract/create', {
      name: 'Natural',
      number: 'C-9',
      master_account_id: 'natural',
      start_date: '2026-01-01',
      end_date: '2026-12-31',
      currency_id: 'EUR',
      total_price: 12.5,
      description: 'By hand',
    });
    expect(output).to.include({
      name: 'Natural',
      number: 'C-9',
      masterAccountId: account.id,
      startDate: '2026-01-01',
      currency: 'EUR',
      totalPrice: 12.5,
      description: 'By hand',
    });
    await call(
      'contract/create',
      { name: 'Again', number: 'C-9', master_account_id: account.id },
      409,
    );
    const dates = { start_date: '2027-02-01', end_date: '2027-01-31' };
    const start = { name: 'X', master_account_id: 'nobody' };
    await call('contract/create', start, 400);
    const { message } = await call(
      'contract/create',
      { ...start, master_account_id: account.id, ...dates },
      400,
    );
    expect(message).to.equal("'end_date' (2027-01-31) is before 'start_date' (2027-02-01)");
    await call('contract/create', { name: 'X' }, 400);
    const edited = await call('contract/edit', { id: output.id, total_price: 13 });
    expect(edited.output).to.deep.equal({ ...output, totalPrice: 13 });
    expect((await call('contract/delete', { id: output.id })).output).to.deep.equal({
      id: output.id,
      deleted: true,
    });
    await call('contract/delete', { id: output.id }, 404);
    await tenant.get(`${external}/contracts/${output.id as string}`).expect(404);
  });

  // spec/flows.md R6, R7, R18
  it('services: made, changed, copied, deleted', async () => {
    const { output: made } = await call('service/create', {
      name: 'Storage',
      label: 'Object storage',
      code: 'st',
      currency_id: 'USD',
      service_type: 'usage',
      billing_frequency: 'monthly',
      charge_frequency: 'Monthly',
      description: 'Space',
    });
    expect(made).to.include({ serviceType: 'Usage', billingFrequency: 'Monthly', currency: 'USD' });
    await call('service/create', { name: 'Storage' }, 409);
    const path = `${external}/services/${made.id as string}`;
    await tenant
      .put(path, {
        priceableAttributes: [{ name: 'gb', dimensionDataType: 'Number' }],
        inputAttributes: [{ name: 'days', dimensionDataType: 'Number' }],
        rateCards: [
          {
            currency: 'USD',
            rows: [{ label: 'Space', priceDimName: 'gb', priceMethod: 'QUANTITY', unitRate: 0.25 }],
          },
        ],
        pricingLogic: [
          {
            name: 'Price',
            priceOutput: 'all',
            transactionDimension: 'payer',
            steps: [{ name: 'all', formula: 'Price(gb, days)' }],
          },
        ],
      })
      .expect(200);
    await call('service/approve', { ID_Service: made.id });
    const { output: copy } = await call('service/clone', { Service_ID: made.id });
    expect(copy).to.include({ name: 'Storage (copy)', approvalStatus: 'Draft', code: 'st' });
    expect(copy.id).to.not.equal(made.id);
    expect(copy.rateCards[0].rows[0]).to.include({
      unitRate: 0.25,
      priceDimId: copy.priceableAttributes[0].id,
    });
    expect(copy.pricingLogic[0].steps[0].formula).to.equal('Price(gb, days)');
    const second = await call('service/clone', { Service_ID: 'Storage' });
    expect(second.output.name).to.equal('Storage (copy 2)');
    await call('service/clone', { Service_ID: 'No such service' }, 400);
    // Its copies have its code too: the oldest is meant.
    await call('service/create', { name: 'Other', code: 'st' });
    const third = await call('service/clone', { Service_ID: 'st' });
    expect(third.output.name).to.equal('Storage (copy 3)');
    const edited = await call('service/edit', { id: copy.id, label: 'Copied' });
    expect(edited.output).to.include({ label: 'Copied', name: 'Storage (copy)' });
    await call('service/delete', { id: copy.id });
    await tenant.get(`${external}/services/${copy.id as string}`).expect(404);
  });

  // spec/flows.md R6, R7
  it('payments: made with defaults, changed, deleted', async () => {
    await call('account/create', onboarding({ ExternalId: 'payer' }));
    const { output } = await call('payment/create', {
      account_id: 'payer',
      amount: 99.95,
      currency_id: 'USD',
      payment_date: '2026-04-30',
      payment_method: 'ach',
      payment_reference: 'FLOW-1',
    });
    expect(output).to.include({
      amount: 99.95,
      balance: 99.95,
      paymentMethod: 'ACH',
      paymentType: 'Pay In',
      paymentStatus: 'Completed',
      approvalStatus: 'Approved',
    });
    const edited = await call('payment/edit', { id: output.id, amount: 100, comments: 'Checked' });
    expect(edited.output).to.include({ amount: 100, balance: 100, comments: 'Checked' });
    await call('payment/delete', { id: output.id });
    await call('payment/delete', { id: output.id }, 404);
  });

  it('what is taken already is refused to a change, too', async () => {
    await call('account/create', onboarding({ ExternalId: 'taken' }));
    const { output: account } = await call('account/create', onboarding());
    await call('account/edit', { id: account.id, external_id: 'taken' }, 409);
    const contract = (number: string) => ({ name: 'C', number, master_account_id: account.id });
    await call('contract/create', contract('T-1'));
    const { output: second } = await call('contract/create', contract('T-2'));
    await call('contract/edit', { id: second.id, number: 'T-1' }, 409);
    for (const field of ['name', 'number', 'master_account_id']) {
      const refused = await call('contract/edit', { id: second.id, [field]: null }, 400);
      expect(refused.message).to.include(`'${field}'`);
    }
    await call('service/create', { name: 'Taken' });
    const { output: service } = await call('service/create', { name: 'Free' });
    await call('service/edit', { id: service.id, name: 'Taken' }, 409);
    const payment = (payment_reference: string) => ({
      account_id: 'taken',
      amount: 1,
      currency_id: 'USD',
      payment_date: '2026-01-01',
      payment_method: 'Cash',
      payment_reference,
    });
    await call('payment/create', payment('T-1'));
    const { output: other } = await call('payment/create', payment('T-2'));
    const taken = await call('payment/edit', { id: other.id, payment_reference: 'T-1' }, 409);
    expect(taken.message).to.include('payment_reference');
  });
});
