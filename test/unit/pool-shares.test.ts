import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { PoolBusyError, PoolShares } from '../../src/platform/database/pool-shares.js';

/** Lets so many of a tenant in; returns in which order others are. */
const begin = (shares: PoolShares, tenantId: string, count: number, order: string[] = []): void => {
  for (let index = 0; index < count; index += 1) {
    const turn = shares.enter(tenantId);
    if (turn === undefined) order.push(tenantId);
    // Those that are never let in give up some time after their test.
    else
      turn.then(
        () => order.push(tenantId),
        () => undefined,
      );
  }
};

describe('shares of the pool', () => {
  // Of 20 connections 2 are the platform's; of 18 a tenant's share is 9, and 5 are kept free.
  const options = { max: 20, share: 0.5 };

  it('let a tenant that is alone have all but what is kept for others', () => {
    const order: string[] = [];
    begin(new PoolShares(options), 'a', 40, order);
    expect(order).to.have.length(13);
  });

  it('give whoever comes a connection at once, and then equal shares', async () => {
    const shares = new PoolShares(options);
    const order: string[] = [];
    begin(shares, 'a', 40);
    begin(shares, 'b', 40, order);
    expect(order).to.have.length(5);
    // What the first gives back goes to the second, until both have 9.
    for (let index = 0; index < 4; index += 1) shares.leave('a');
    await wait(0);
    expect(order).to.have.length(9);
  });

  it('serve tenants in turn', async () => {
    const shares = new PoolShares({ max: 4, share: 0.34 });
    const order: string[] = [];
    for (const tenantId of ['x', 'y', 'z']) begin(shares, tenantId, 1);
    for (const tenantId of ['a', 'a', 'b', 'a', 'c']) begin(shares, tenantId, 1, order);
    for (const tenantId of ['x', 'y', 'z']) shares.leave(tenantId);
    await wait(0);
    expect(order).to.deep.equal(['a', 'b', 'c']);
  });

  it('let nobody wait for ever, nor too many', async () => {
    const shares = new PoolShares({ max: 2, share: 1, waitMs: 30, waitersMax: 2 });
    begin(shares, 'a', 2);
    const turns = [1, 2, 3].map(async () => {
      try {
        return await shares.enter('a');
      } catch (error) {
        return error;
      }
    });
    for (const failure of await Promise.all(turns)) expect(failure).to.be.instanceOf(PoolBusyError);
    shares.leave('a');
    expect(shares.enter('a')).to.equal(undefined);
  });

  it('forget whoever gives up waiting', async () => {
    const shares = new PoolShares({ max: 2, share: 1 });
    begin(shares, 'a', 2);
    let giveUp = (_error: Error): void => undefined;
    const turn = shares.enter('a', (end) => (giveUp = end))?.catch((error: Error) => error.message);
    const order: string[] = [];
    begin(shares, 'b', 1, order);
    giveUp(new Error('gone'));
    expect(await turn).to.equal('gone');
    shares.leave('a');
    await wait(0);
    expect(order).to.deep.equal(['b']);
  });
});
