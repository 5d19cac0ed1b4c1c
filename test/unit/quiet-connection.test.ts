import { AsyncResource } from 'node:async_hooks';
import { expect } from 'chai';
import { QuietConnection } from '../../src/platform/temporal/quiet-connection.js';

describe('a connection to Temporal', () => {
  const connection = QuietConnection.lazy({ address: '127.0.0.1:1' });
  const deadlineHere = () => connection.callContextStorage.getStore()?.deadline;

  after(() => connection.close());

  it('keeps the deadline of a call until the last one has ended, and nothing after it', async () => {
    let endSecond = (): void => undefined;
    const second = connection.withDeadline(2, async () => {
      await new Promise<void>((resolve) => {
        endSecond = resolve;
      });
      return deadlineHere();
    });
    const later = await connection.withDeadline(1, () =>
      connection.withMetadata({ name: 'value' }, () => {
        expect(deadlineHere()).to.equal(1);
        return Promise.resolve(AsyncResource.bind(deadlineHere));
      }),
    );
    // The other one is still under way.
    expect(later()).to.equal(1);
    endSecond();
    expect(await second).to.equal(2);
    expect(later()).to.equal(undefined);
  });

  it('ends with a call that fails, too', async () => {
    let later: typeof deadlineHere | undefined;
    const failing = connection.withDeadline(3, () => {
      later = AsyncResource.bind(deadlineHere);
      return Promise.reject(new Error('no'));
    });
    expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: no');
    expect(later?.()).to.equal(undefined);
  });
});
