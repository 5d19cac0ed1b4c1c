import { mock } from 'node:test';
import { expect } from 'chai';
import { Problem } from '../../src/kernel/problem.js';
import { IngestionAtOnce } from '../../src/access/limits/ingestion-at-once.js';
import { openMetrics } from '../../src/platform/metrics.js';
import { RequestsInWork, type Lane, type Leave } from '../../src/access/limits/requests-in-work.js';

const metrics = openMetrics(() => new Map());
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('shares of tenants', () => {
  let shares: RequestsInWork;
  let begun: { tenant: string; leave: Leave }[];
  // Time passes where a test says so: what is measured is how late the event loop is, and a busy machine delays it.
  let now: number;
  beforeEach(() => {
    now = 1_000;
    mock.method(performance, 'now', () => now);
    mock.timers.enable({ apis: ['setInterval'] });
    shares = new RequestsInWork(0.5, metrics);
    begun = [];
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });
  /** Lets time pass, in which the event loop is on time. */
  const pass = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 50) {
      now += 50;
      mock.timers.tick(50);
      await settled();
    }
  };
  /** From an eighth of a share to all of it are 28 steps of 50 ms. */
  const untilEased = (): Promise<void> => pass(28 * 50);

  const send = (tenant: string, count: number, lane: Lane = 'light', isGone = false): void => {
    // What begins after its test has ended is none of the next one's.
    const own = begun;
    for (let index = 0; index < count; index += 1) {
      void Promise.resolve(shares.enter(tenant, lane, () => isGone)).then(
        (leave) => own.push({ tenant, leave }),
        () => undefined,
      );
    }
  };
  const inWork = async (tenant: string): Promise<number> => {
    await settled();
    return begun.filter((one) => one.tenant === tenant).length;
  };
  const finish = (tenant: string, count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const at = begun.findIndex((one) => one.tenant === tenant);
      begun.splice(at, 1)[0]?.leave();
    }
  };

  // Slots of a tenant that is alone, and of one that is not: half of them.
  for (const [lane, alone, share] of [
    ['heavy', 4, 2],
    ['flow', 256, 128],
  ] as const) {
    it(`in the lane ${lane}: ${alone} alone, ${share} while others want to work`, async () => {
      send('a', alone + 200, lane);
      expect(await inWork('a')).to.equal(alone);
      send('b', 1, lane);
      expect(await inWork('b')).to.equal(1);
      finish('a', alone - share);
      expect(await inWork('a')).to.equal(share);
      finish('a', 1);
      await untilEased();
      expect(await inWork('a')).to.equal(share);
      send('b', share, lane);
      await untilEased();
      expect(await inWork('b')).to.equal(share);
    });
  }

  it('leave the event loop to others between requests that wait for nothing', async () => {
    let turn = 0;
    const turnsOf: number[] = [];
    const count = (): void => {
      turn += 1;
      if (turnsOf.length < 40) setImmediate(count);
    };
    setImmediate(count);
    const requests = Array.from({ length: 40 }, async () => {
      const leave = await shares.enter('a', 'heavy', () => false);
      turnsOf.push(turn);
      leave();
    });
    await Promise.all(requests);
    // Four at once, and as many in each further turn.
    const most = Math.max(...turnsOf.map((one) => turnsOf.filter((other) => other === one).length));
    expect(most).to.equal(4);
  });

  it('in the lane light: 64 alone, 32 of short ones while others want to work', async () => {
    send('a', 1);
    expect(await inWork('a')).to.equal(1);
    send('a', 100);
    expect(await inWork('a')).to.equal(64);
    send('b', 1);
    finish('a', 64);
    send('a', 64);
    for (let step = 0; step <= 28; step += 1) {
      const count = await inWork('a');
      expect(count).to.equal(4 + step);
      await pass(50);
      finish('a', count);
      send('a', count);
    }
    await untilEased();
    expect(await inWork('a')).to.equal(32);
  });

  it('are in the lane light as few as in the heavy one where what is in work is dear, or unknown', async () => {
    send('a', 1);
    send('b', 20);
    expect(await inWork('b')).to.equal(1);
    // Two are in work: 100 ms of each are 50 of this process, and so are dear.
    await pass(100);
    finish('b', 1);
    await untilEased();
    expect(await inWork('b')).to.equal(2);
    await pass(2_000);
    expect(await inWork('b')).to.equal(2);
    // Short ones make it cheap again.
    send('b', 900);
    for (let round = 0; round < 20; round += 1) finish('b', await inWork('b'));
    expect(await inWork('b')).to.equal(32);
  });

  it('are an eighth for who comes, until it is seen what its requests cost', async () => {
    send('a', 1, 'flow');
    send('b', 128, 'flow');
    expect(await inWork('b')).to.equal(16);
    await untilEased();
    expect(await inWork('b')).to.equal(128);
  });

  it('begin all of a tenant in its turn, however many it sends at once', async () => {
    send('a', 200);
    for (let turns = 0; turns < 200; turns += 1) {
      expect(await inWork('a')).to.be.within(1, 64);
      finish('a', 1);
    }
    expect(await inWork('a')).to.equal(0);
  });

  it('go to whoever has had least, not to whoever sent most or first', async () => {
    for (const tenant of ['a', 'b', 'c']) send(tenant, 2, 'heavy');
    await untilEased();
    for (const tenant of ['a', 'b', 'c']) expect(await inWork(tenant)).to.equal(2);
    // 2 of each, 6 together, are all that may be in work.
    send('a', 5, 'heavy');
    send('b', 5, 'heavy');
    await settled();
    // What a has done was dear: an answer of 10 MiB.
    const at = begun.findIndex(({ tenant }) => tenant === 'a');
    begun.splice(at, 1)[0]?.leave(10 * 1024 * 1024);
    expect(await inWork('a')).to.equal(2);
    finish('a', 1);
    finish('b', 1);
    finish('c', 1);
    expect(await inWork('b')).to.equal(2);
    expect(await inWork('a')).to.equal(2);
  });

  it('end with 429 when 1,000 of a tenant wait, and leave room for another', async () => {
    send('a', 1_064);
    await settled();
    expect(() => shares.enter('a', 'light', () => false))
      .to.throw(Problem)
      .that.includes({
        kind: 'rateLimited',
      });
    send('b', 1);
    expect(await inWork('b')).to.equal(1);
  });

  it('do not wait for those whose clients have gone', async () => {
    send('a', 64);
    send('a', 10, 'light', true);
    send('a', 1);
    await settled();
    finish('a', 1);
    expect(await inWork('a')).to.equal(64);
    finish('a', 64);
    expect(await inWork('a')).to.equal(0);
  });

  it('tell whether others are answered late: when the event loop is, and there are others', async () => {
    send('a', 1);
    expect(shares.isLateForOthersThan('a')).to.equal(false);
    send('b', 1);
    await pass(50);
    expect(shares.isLateForOthersThan('a')).to.equal(false);
    now += 50 + 21;
    mock.timers.tick(50);
    expect(shares.isLateForOthersThan('a')).to.equal(true);
    expect(shares.isLateForOthersThan('c')).to.equal(true);
  });

  it('are whole again a second after the others have gone', async () => {
    send('a', 100);
    send('b', 1);
    await settled();
    finish('b', 1);
    finish('a', 40);
    await pass(1_000);
    expect(await inWork('a')).to.equal(24);
    await pass(50);
    expect(await inWork('a')).to.equal(60);
  });
});

describe('admission of usage', () => {
  const kindOf = (enter: () => unknown): string => {
    try {
      enter();
      return 'admitted';
    } catch (error) {
      return error instanceof Problem ? error.kind : 'thrown';
    }
  };

  it('is all of one tenant while it is alone, and its share while others send', () => {
    const admission = new IngestionAtOnce(0.5, metrics);
    const leaves = Array.from({ length: 1_000 }, () => admission.enter('a', 100));
    expect(kindOf(() => admission.enter('a', 100))).to.equal('overloaded');
    expect(kindOf(() => admission.enter('b', 100))).to.equal('admitted');
    for (const leave of leaves.slice(0, 300)) leave();
    expect(kindOf(() => admission.enter('a', 100))).to.equal('rateLimited');
    for (const leave of leaves.slice(300, 501)) leave();
    expect(kindOf(() => admission.enter('a', 100))).to.equal('admitted');
    expect(kindOf(() => admission.enter('a', 100))).to.equal('rateLimited');
    for (let index = 1; index < 500; index += 1) admission.enter('b', 100);
    expect(kindOf(() => admission.enter('b', 100))).to.equal('rateLimited');
    // 500 of each; a third one finds the room that no single tenant can fill.
    for (let index = 0; index < 500; index += 1) admission.enter('c', 100);
    expect(kindOf(() => admission.enter('d', 100))).to.equal('overloaded');
  });

  it('counts bytes in the same way', () => {
    const admission = new IngestionAtOnce(0.5, metrics);
    const mebibyte = 1024 * 1024;
    for (let index = 0; index < 64; index += 1) admission.enter('a', mebibyte);
    expect(kindOf(() => admission.enter('a', mebibyte))).to.equal('overloaded');
    for (let index = 0; index < 32; index += 1) admission.enter('b', mebibyte);
    expect(kindOf(() => admission.enter('b', 1))).to.equal('overloaded');
  });
});
