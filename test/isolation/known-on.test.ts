import { expect } from 'chai';
import { meteredService, usage, waitUntilRated } from '../support/billing/usage.js';
import { useStory } from '../support/story/story.js';

/** What was known at an instant, asked at that instant and again, while usage is rated. */
describe('what was known on an instant', function () {
  this.timeout(120_000);
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;

  // spec/beyond.md R143
  it('is answered the same again, however much is being rated', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls', meteredService);
    const count = 400;
    const known = async (at: string): Promise<unknown> =>
      (await tenant.get(`/v1/usage?knownOn=${at}`).expect(200)).body.data;
    let sent = 0;
    const send = async (): Promise<void> => {
      while (sent < count) {
        sent += 1;
        const message = usage('acme', serviceId, { externalTransactionId: `e-${sent}` });
        await tenant.post('/v1/ingest/usage', { message }).expect(200);
      }
    };
    const shown: { readonly at: string; readonly body: unknown }[] = [];
    const ask = async (): Promise<void> => {
      while (sent < count) {
        const at = new Date().toISOString();
        shown.push({ at, body: await known(at) });
      }
    };
    await Promise.all([send(), send(), send(), send(), ask(), ask(), ask()]);
    await waitUntilRated(tenant, count);
    expect(shown.length).to.be.greaterThan(20);
    for (const { at, body } of shown) expect(await known(at), at).to.deep.equal(body);
  });
});
