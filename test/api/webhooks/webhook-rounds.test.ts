import { expect } from 'chai';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { openReceiver, waitUntilDelivered, type Receiver } from '../../support/servers/receiver.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Delivery {
  readonly id: string;
  readonly attempts: readonly { readonly round: number }[];
}

describe('a delivery that is asked for again and again', function () {
  // Twelve rounds, one after the other.
  this.timeout(120_000);
  let instance: TestInstance;
  let tenant: TestTenant;
  let receiver: Receiver;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
    receiver = await openReceiver();
  });
  after(async () => {
    await receiver.close();
    await instance.close();
  });

  it('keeps the attempts of its last ten rounds', async () => {
    const type = await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    const webhook = { url: receiver.url, events: ['mdata.created'], secret };
    const { body } = await tenant.post('/v1/webhooks', webhook).expect(201);
    const id = body.id as string;
    await tenant.post(`/v1/mobjects/${String(type.body.id)}/mdata`, { data: { n: 1 } }).expect(201);
    await waitUntilDelivered(tenant, id);
    const read = async (): Promise<Delivery | undefined> =>
      ((await tenant.get(`/v1/webhooks/${id}/deliveries`).expect(200)).body.data as Delivery[])[0];
    const path = `/v1/webhooks/${id}/deliveries/${String((await read())?.id)}/redeliver`;
    for (let round = 2; round <= 12; round += 1) {
      await tenant.post(path).expect(200);
      await waitUntilDelivered(tenant, id);
    }
    const rounds = (await read())?.attempts.map(({ round }) => round);
    expect(rounds).to.deep.equal([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});
