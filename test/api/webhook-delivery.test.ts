import { expect } from 'chai';
import { openTestInstance, type TestInstance, type TestTenant } from '../support/instance.js';
import { openReceiver, verify, type Receiver } from '../support/receiver.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('deliveries of webhooks', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let receiver: Receiver;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
    receiver = await openReceiver();
  });
  afterEach(() => receiver.close());

  it('tell of a record', async () => {
    await tenant
      .post('/v1/webhooks', { url: receiver.url, events: ['mdata.created'], secret })
      .expect(201);
    const type = await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    const record = await tenant
      .post(`/v1/mobjects/${String(type.body.id)}/mdata`, { data: { price: 1.5 } })
      .expect(201);
    const [delivery] = await receiver.until((all) => all.length > 0);
    expect(delivery && verify(secret, delivery)).to.deep.include({
      event: 'mdata.created',
      data: record.body,
    });
  });
});
