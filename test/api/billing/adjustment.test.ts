import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { Adjustment } from '../../../src/models/billing/adjustments/adjustment.js';
import { createAccount, createService } from '../../support/billing/usage.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

// spec/beyond.md R281 to R283
describe('adjustments', () => {
  const instance = useInstance();
  const tenant = useTenant(instance, { forEachTest: true });
  let accountId: string;
  beforeEach(async () => {
    accountId = await createAccount(tenant, 'acme', { defaultCurrency: 'USD' });
  });
  const post = (body: object) => tenant.post('/v1/adjustments', { from: '2026-01-01', ...body });
  const refused = async (status: number, body: object): Promise<string> => {
    const answer = await post(body).expect(status);
    return answer.body.error.message as string;
  };

  it('are made, listed, read, changed and deleted', async () => {
    const made = await post({ accountId: 'acme', kind: 'discountPercent', value: 12.5 }).expect(
      201,
    );
    expect(made.body).to.deep.include({
      accountId,
      contractId: null,
      contractServiceId: null,
      kind: 'discountPercent',
      value: 12.5,
      currency: null,
      serviceId: null,
      period: null,
      from: '2026-01-01',
      to: null,
    });
    const path = `/v1/adjustments/${made.body.id as string}`;
    expect((await tenant.get(path).expect(200)).body).to.deep.equal(made.body);
    const list = await tenant.get('/v1/adjustments?accountId=acme').expect(200);
    expect(list.body.data).to.deep.equal([made.body]);
    expect(list.body.pagination.total).to.equal(1);
    const none = await tenant.get(`/v1/adjustments?contractServiceId=${newId()}`).expect(200);
    expect(none.body.data).to.deep.equal([]);
    const changed = await tenant.put(path, { value: 20, to: '2027-01-01' }).expect(200);
    expect(changed.body).to.deep.include({ value: 20, to: '2027-01-01', from: '2026-01-01' });
    const unlimited = await tenant.put(path, { to: null }).expect(200);
    expect(unlimited.body).to.deep.include({ value: 20, to: null });
    const moved = await tenant.put(path, { kind: 'minimum' }).expect(400);
    expect(moved.body.error.message).to.include("'kind' of an adjustment stays");
    await tenant.put(path, { accountId: newId() }).expect(400);
    await tenant.delete(path).expect(204);
    await tenant.get(path).expect(404);
    await tenant.put(path, { value: 1 }).expect(404);
    await tenant.delete(path).expect(404);
    expect((await tenant.get('/v1/adjustments').expect(200)).body.data).to.deep.equal([]);
  });

  it('are listed by kind and by service, with all other filters', async () => {
    const serviceId = await createService(tenant, 'Calls');
    const of = { accountId, currency: 'USD', value: 10 };
    const minimum = await post({ ...of, kind: 'minimum' }).expect(201);
    const ofService = await post({ ...of, kind: 'minimum', serviceId }).expect(201);
    const percent = await post({ accountId, kind: 'discountPercent', value: 5 }).expect(201);
    const listed = async (query: string): Promise<string[]> => {
      const { body } = await tenant.get(`/v1/adjustments?${query}`).expect(200);
      expect(body.pagination.total).to.equal(body.data.length);
      return (body.data as { id: string }[]).map(({ id }) => id).sort();
    };
    const ids = [minimum, ofService, percent].map(({ body }) => body.id as string);
    expect(await listed('kind=minimum')).to.deep.equal([ids[0], ids[1]].sort());
    expect(await listed('kind=minimum&accountId=acme')).to.have.length(2);
    expect(await listed('kind=discountPercent')).to.deep.equal([ids[2]]);
    expect(await listed('kind=maximum')).to.deep.equal([]);
    expect(await listed(`serviceId=${serviceId}`)).to.deep.equal([ids[1]]);
    expect(await listed(`serviceId=${serviceId}&kind=discountPercent`)).to.deep.equal([]);
    const wrong = await tenant.get('/v1/adjustments?kind=rebate').expect(400);
    expect(wrong.body.error.message).to.include('kind');
  });

  it('hold for exactly one thing that there is', async () => {
    const percent = { kind: 'discountPercent', value: 10 };
    expect(await refused(400, percent)).to.include("One of 'accountId', 'contractId'");
    const two = { accountId, contractId: newId(), ...percent };
    expect(await refused(400, two)).to.include("not 'accountId' and 'contractId'");
    const unknown = newId();
    expect(await refused(400, { contractServiceId: unknown, ...percent })).to.include(unknown);
    expect(await refused(400, { accountId, serviceId: unknown, ...percent })).to.include(unknown);
  });

  it('of a line or contract name no service or currency of which nothing is charged', async () => {
    const [serviceId, other] = [
      await createService(tenant, 'Calls'),
      await createService(tenant, 'Mails'),
    ];
    const contract = { name: 'C', masterAccountId: accountId, currency: 'USD' };
    const { body } = await tenant
      .post(`${external}/contracts`, { ...contract, services: [{ serviceId }] })
      .expect(201);
    const contractServiceId = body.services[0].id as string;
    const minimum = { kind: 'minimum', value: 10 };
    const made = await post({ ...minimum, contractServiceId, serviceId }).expect(201);
    expect(made.body).to.include({ serviceId, currency: 'USD' });
    const line = { ...minimum, contractServiceId, period: 'Yearly' };
    expect(await refused(400, { ...line, serviceId: other })).to.include(`'serviceId' '${other}'`);
    expect(await refused(400, { ...line, currency: 'EUR' })).to.include("'currency' 'EUR'");
    const whole = { kind: 'discountAmount', value: 10, contractId: body.id as string };
    expect(await refused(400, { ...whole, currency: 'EUR' })).to.include("which is 'USD'");
    const path = `/v1/adjustments/${made.body.id as string}`;
    const moved = await tenant.put(path, { serviceId: other }).expect(400);
    expect(moved.body.error.details).to.include({ field: 'serviceId', value: other });
  });

  // spec/resources.md R17
  it('are put as they were read, and end, whatever became of what they name', async () => {
    const [serviceId, other] = [
      await createService(tenant, 'Calls'),
      await createService(tenant, 'Mails'),
    ];
    const { body } = await tenant
      .post(`${external}/contracts`, {
        name: 'C',
        masterAccountId: accountId,
        currency: 'USD',
        services: [{ serviceId }],
      })
      .expect(201);
    const contract = `${external}/contracts/${body.id as string}`;
    const minimum = { kind: 'minimum', value: 10 };
    const ids = [
      (await post({ ...minimum, contractId: body.id, serviceId }).expect(201)).body.id as string,
      (await post({ ...minimum, contractServiceId: body.services[0].id }).expect(201)).body.id,
    ];
    const [ofContract, ofLine] = ids.map((id) => `/v1/adjustments/${id as string}`);
    const change = (path = '', more: object, status = 200) => tenant.put(path, more).expect(status);
    const end = async (to: string) => {
      for (const path of [ofContract, ofLine]) {
        const { body: read } = await tenant.get(path ?? '').expect(200);
        const { body: put } = await change(path, read);
        expect(put).to.deep.equal({ ...read, updatedAt: put.updatedAt });
        expect((await change(path, { to })).body).to.include({ value: 10, currency: 'USD', to });
      }
    };
    await tenant.put(contract, { currency: 'EUR' }).expect(200);
    await end('2026-07-01');
    // What is changed has to fit: to another currency, and back to what the contract has no more.
    const { error } = (await change(ofContract, { currency: 'GBP' }, 400)).body;
    expect(error.details).to.include({ field: 'currency', value: 'GBP' });
    await change(ofContract, { currency: 'EUR' });
    await change(ofContract, { currency: 'USD' }, 400);
    await tenant.put(contract, { currency: 'USD' }).expect(200);
    await change(ofContract, { currency: 'USD' });
    // So an older version made it: of a service that is not that of the line.
    await tenant.scope.db.transaction(async (trx) =>
      Adjustment.query(trx)
        .forTenant(tenant.id)
        .findById(ids[1] ?? '')
        .patch({ serviceId: other }),
    );
    await end('2026-08-01');
    await change(ofLine, { serviceId: newId() }, 400);
    await tenant.delete(`${external}/services/${other}`).expect(204);
    await end('2026-09-01');
    await tenant.put(contract, { services: [] }).expect(200);
    await tenant.delete(contract).expect(204);
    await tenant.delete(`${external}/services/${serviceId}`).expect(204);
    await end('2026-10-01');
  });

  it('have a currency and a period that fit their kind', async () => {
    const poor = await createAccount(tenant, 'poor');
    const minimum = await post({ accountId, kind: 'minimum', value: 10 }).expect(201);
    expect(minimum.body).to.include({ currency: 'USD', period: 'Monthly' });
    const without = { accountId: poor, kind: 'minimum', value: 10 };
    expect(await refused(400, without)).to.include("'currency'");
    const discount = { accountId, kind: 'discountAmount', value: 10 };
    expect(await refused(400, { ...discount, period: 'Monthly' })).to.include("'period'");
    const once = { accountId, kind: 'maximum', value: 10, period: 'One Time' };
    expect(await refused(400, once)).to.include('One Time');
    const percent = { accountId, kind: 'discountPercent' };
    expect(await refused(400, { ...percent, value: 100.5 })).to.include('at most 100');
    expect(await refused(400, { ...percent, value: -1 })).to.include("'value'");
    expect(await refused(400, { ...percent, value: 1, to: '2026-01-01' })).to.include("'to'");
    expect(await refused(400, { ...percent, value: 1, kind: 'rebate' })).to.include(
      'discountPercent',
    );
    expect(await refused(400, { ...percent, value: 1, percent: 2 })).to.include("'percent'");
  });

  it('do not contradict each other', async () => {
    const serviceId = await createService(tenant, 'Calls');
    const of = { accountId, currency: 'USD', period: 'Monthly' };
    const minimum = await post({ ...of, kind: 'minimum', value: 100 }).expect(201);
    const maximum = { ...of, kind: 'maximum', value: 99.99 };
    expect(await refused(409, maximum)).to.include('maximum 99.99 is below the minimum 100');
    // Of one service, in another currency, for other periods, or on other days it contradicts nothing.
    await post({ ...maximum, serviceId }).expect(201);
    await post({ ...maximum, currency: 'EUR' }).expect(201);
    await post({ ...maximum, period: 'Daily' }).expect(201);
    await post({ ...maximum, from: '2025-01-01', to: '2026-01-01' }).expect(201);
    const met = await post({ ...maximum, value: 100 }).expect(201);
    const second = { ...of, kind: 'minimum', value: 5 };
    expect(await refused(409, second)).to.include('There is a minimum of the same charges');
    const commitment = { ...of, kind: 'commitment', value: 101 };
    expect(await refused(409, commitment)).to.include('below the commitment 101');
    await tenant.put(`/v1/adjustments/${minimum.body.id as string}`, { value: 101 }).expect(409);
    await tenant.put(`/v1/adjustments/${met.body.id as string}`, { value: 99 }).expect(409);
    await tenant.put(`/v1/adjustments/${met.body.id as string}`, { value: 200 }).expect(200);
    await post(commitment).expect(201);
  });

  it('are made once under a key', async () => {
    const body = { accountId, kind: 'discountAmount', value: 1, from: '2026-01-01' };
    const send = () =>
      tenant.post('/v1/adjustments', body).set('Idempotency-Key', 'once').expect(201);
    const [one, two] = [await send(), await send()];
    expect(two.body).to.deep.equal(one.body);
    expect((await tenant.get('/v1/adjustments').expect(200)).body.pagination.total).to.equal(1);
  });
});
