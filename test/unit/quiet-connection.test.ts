import { expect } from 'chai';
import { QuietConnection } from '../../src/platform/temporal/quiet-connection.js';

describe('a connection to Temporal', () => {
  const connection = QuietConnection.lazy({ address: '127.0.0.1:1' });
  const { callContextStorage: storage } = connection;
  const deadlineHere = () => storage.getStore()?.deadline;
  let given = 0;

  before(() => {
    const disable = storage.disable.bind(storage);
    storage.disable = () => {
      given += 1;
      disable();
    };
  });
  beforeEach(() => {
    given = 0;
  });
  after(() => connection.close());

  it('keeps its storage until the last call under way has ended, and gives it up then', async () => {
    let endSecond = (): void => undefined;
    const second = connection.withDeadline(2, async () => {
      await new Promise<void>((resolve) => {
        endSecond = resolve;
      });
      return deadlineHere();
    });
    const first = await connection.withDeadline(1, () =>
      connection.withMetadata({ name: 'value' }, () => Promise.resolve(deadlineHere())),
    );
    expect(first).to.equal(1);
    expect(given).to.equal(0);
    endSecond();
    expect(await second).to.equal(2);
    expect(given).to.equal(1);
    expect(deadlineHere()).to.equal(undefined);
  });

  it('gives it up after a call that fails, too', async () => {
    const failing = connection.withDeadline(3, () => Promise.reject(new Error('no')));
    expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: no');
    expect(given).to.equal(1);
  });
});
