import { expect } from 'chai';
import type { Lane } from '../../src/access/limits/requests-in-work.js';
import { declaredOperations } from '../support/http/answers.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { sendRaw } from '../support/http/raw.js';

const anyId = '01939c6e-7a00-7000-8000-00000000dead';

/** Every operation is refused to a tenant that has more than its share in work, and to it alone. */
describe('shares', () => {
  let instance: TestInstance;
  let greedy: TestTenant;
  let neighbour: TestTenant;
  const leaves: (() => void)[] = [];
  before(async () => {
    instance = await openTestInstance();
    greedy = await instance.tenant();
    neighbour = await instance.tenant();
    const { shares, admission, addressLimits } = instance.platform;
    for (const lane of ['light', 'heavy', 'flow'] as const satisfies readonly Lane[]) {
      for (let count = 0; count < 1_256; count += 1) {
        try {
          const turn = shares.enter(greedy.id, lane, () => true);
          Promise.resolve(turn).then(
            (leave) => leaves.push(leave),
            () => undefined,
          );
        } catch {
          break;
        }
      }
    }
    for (let count = 0; count < 500; count += 1) leaves.push(admission.enter(greedy.id, 100));
    leaves.push(admission.enter(neighbour.id, 100));
    const loopback = {
      group: '127.0.0.1',
      isLoopback: true,
      isProxy: false,
      registrant: '127.0.0.1',
    };
    for (let count = 0; count < 12_000; count += 1) addressLimits.count('authorize', loopback);
    leaves.push(await shares.enter(neighbour.id, 'light', () => false));
  });
  after(async () => {
    for (const leave of leaves) leave();
    await instance.close();
  });

  for (const { id, method, path, access } of declaredOperations) {
    if (id === 'registerClient') continue;
    it(`refuse ${id} with 429`, async () => {
      const answer = await sendRaw(instance.url, {
        method,
        path: path.replace(/\{\w+\}/g, anyId),
        headers: access === 'public' ? {} : { Authorization: `Bearer ${greedy.token}` },
      });
      expect(answer.status).to.equal(429);
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    });
  }

  it('leave the neighbour alone', async () => {
    await neighbour.get('/api/v1/external/accounts').expect(200);
    await neighbour.get('/v1/audit').expect(200);
    await neighbour
      .post('/v1/ingest/usage', { message: { externalTransactionId: '1' } })
      .expect(200);
  });

  it('of a caller who guesses credentials leave alone who had a valid one', async () => {
    const { addressLimits } = instance.platform;
    const loopback = {
      group: '127.0.0.1',
      isLoopback: true,
      isProxy: false,
      registrant: '127.0.0.1',
    };
    for (let count = 0; count < 30_000; count += 1) addressLimits.count('credential', loopback);
    const path = '/api/v1/external/accounts';
    const guess = { Authorization: `Bearer dbk_0123456789abcdef_${'x'.repeat(43)}` };
    const refused = await sendRaw(instance.url, { method: 'GET', path, headers: guess });
    expect(refused.status).to.equal(429);
    await neighbour.get(path).expect(200);
  });
});
