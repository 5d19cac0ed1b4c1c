import { assert } from 'chai';
import { RatingSlots, type Wanting } from '../../src/worker/rating-slots.js';

const partitionsOf = (tenantId: string, count: number): Wanting[] =>
  Array.from({ length: count }, (_none, partition) => ({ tenantId, partition }));
const tenantsOf = (taken: readonly Wanting[]): string =>
  taken.map(({ tenantId }) => tenantId).join('');

describe('slots of rating', () => {
  it('are all of the one tenant that wants them', () => {
    assert.equal(tenantsOf(new RatingSlots(0.5).take(partitionsOf('a', 8), 0)), 'aaaa');
  });

  it('are one of a tenant for whose rating others wait', () => {
    let isInTheWay = true;
    const slots = new RatingSlots(0.5, (tenantId) => tenantId === 'a' && isInTheWay);
    const own = partitionsOf('a', 8);
    assert.equal(tenantsOf(slots.take(own, 0)), 'a');
    assert.equal(tenantsOf(slots.take([...own, ...partitionsOf('b', 8)], 0)), 'bb');
    isInTheWay = false;
    assert.equal(tenantsOf(slots.take(own, 0)), 'a');
  });

  it('are shared by those who want them, in turn', () => {
    const slots = new RatingSlots(0.5);
    const waiting = [...partitionsOf('a', 8), ...partitionsOf('b', 8)];
    assert.equal(tenantsOf(slots.take(waiting, 0)), 'abab');
    // Each has its share; a third one has a spare slot at once, and nobody another.
    assert.equal(tenantsOf(slots.take([...waiting, ...partitionsOf('c', 8)], 0)), 'c');
  });

  it('are never more than eight, for however many tenants', () => {
    const slots = new RatingSlots(0.5);
    const waiting = [...'abcdefghij'].flatMap((tenantId) => partitionsOf(tenantId, 2));
    assert.equal(tenantsOf(slots.take(waiting, 0)), 'abcdefgh');
    slots.free({ tenantId: 'a', partition: 0 });
    // Those that were never served go before the next partition of one that was.
    assert.equal(tenantsOf(slots.take(waiting, 0)), 'i');
  });

  it('of one tenant that took all are given to another that comes', () => {
    const slots = new RatingSlots(0.5);
    const own = partitionsOf('a', 8);
    slots.take(own, 0);
    assert.equal(tenantsOf(slots.take([...own, ...partitionsOf('b', 2)], 0)), 'b');
    slots.free({ tenantId: 'a', partition: 0 });
    slots.free({ tenantId: 'a', partition: 1 });
    // Two of a and one of b are under way: one slot is left, and a has its share.
    assert.equal(tenantsOf(slots.take([...own, ...partitionsOf('b', 2)], 0)), 'b');
  });

  it('are free of partitions that failed, until their rest is over', () => {
    const slots = new RatingSlots(0.5);
    const [first, second] = partitionsOf('a', 2);
    assert.ok(first && second);
    slots.take([first], 0);
    assert.deepEqual(slots.rest(first, 0), { failures: 1, delayMs: 500 });
    assert.deepEqual(slots.take([first, second], 499), [second]);
    assert.equal(slots.resting, 1);
    assert.deepEqual(slots.take([first, second], 500), [first]);
    assert.deepEqual(slots.rest(first, 500), { failures: 2, delayMs: 1000 });
    slots.take([first], 1500);
    slots.free(first);
    assert.equal(slots.resting, 0);
    assert.deepEqual(slots.take([first], 1500), [first]);
    // 500 ms doubled until half a minute.
    const delays = Array.from({ length: 8 }, () => slots.rest(first, 0).delayMs);
    assert.deepEqual(delays, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('forget the failures of what another process has rated', () => {
    const slots = new RatingSlots(0.5);
    const [first] = partitionsOf('a', 1);
    assert.ok(first);
    slots.take([first], 0);
    slots.rest(first, 0);
    slots.take([], 1);
    assert.equal(slots.resting, 0);
  });
});
