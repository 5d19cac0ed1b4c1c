import { expect } from 'chai';
import { restForConnections, Turns } from '../../src/kernel/turns.js';

const holdThread = (millis: number): void => {
  const until = performance.now() + millis;
  while (performance.now() < until);
};

describe('turns of long work', () => {
  it('let others have theirs once a portion is used up', async () => {
    const turns = new Turns();
    expect(turns.isOver).to.equal(false);
    holdThread(4);
    expect(turns.isOver).to.equal(true);
    let hasRun = false;
    setImmediate(() => {
      hasRun = true;
    });
    await turns.rest();
    expect(hasRun).to.equal(true);
    expect(turns.isOver).to.equal(false);
  });

  it('rest while connections come, and go on though they come for ever', async () => {
    const coming = setInterval(restForConnections, 1);
    try {
      const turns = new Turns();
      for (let portion = 0; portion < 5; portion += 1) {
        holdThread(4);
        await turns.rest();
      }
    } finally {
      clearInterval(coming);
    }
  });
});
