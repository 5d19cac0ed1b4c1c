import { expect } from 'chai';
import { Groups } from '../../src/kernel/groups.js';

/** Groups whose work ends when it is told to. */
const openGroups = (options: { groupsMax: number; itemsMax: number; patienceMs?: number }) => {
  const begun: { items: readonly string[]; end: (results?: unknown[]) => void }[] = [];
  const fulfilled = (items: readonly string[]) =>
    items.map((value) => ({ status: 'fulfilled' as const, value }));
  const groups = new Groups<string, string>({
    patienceMs: 0,
    ...options,
    carryOut: (items) =>
      new Promise((resolve, reject) => {
        const end = (results?: unknown[]): void => {
          if (results === undefined) resolve(fulfilled(items));
          else if (results.length === 0) reject(new Error('all of it'));
          else resolve(results as ReturnType<typeof fulfilled>);
        };
        begun.push({ items, end });
      }),
  });
  return { groups, begun };
};
/** After what was joined in this turn has begun. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('groups', () => {
  it('take what waits at the same moment, and fill while others run', async () => {
    const { groups, begun } = openGroups({ groupsMax: 1, itemsMax: 3 });
    const results = ['a', 'b'].map((item) => groups.join('k', item, item));
    await turn();
    const later = ['c', 'd', 'e', 'f'].map((item) => groups.join('k', item, item));
    const other = groups.join('other', 'a', 'x');
    await turn();
    expect(begun.map(({ items }) => items)).to.deep.equal([['a', 'b'], ['x']]);
    begun[0]?.end();
    begun[1]?.end();
    expect(await Promise.all([...results, other])).to.deep.equal(['a', 'b', 'x']);
    await turn();
    expect(begun[2]?.items).to.deep.equal(['c', 'd', 'e']);
    begun[2]?.end();
    await later[0];
    await turn();
    expect(begun[3]?.items).to.deep.equal(['f']);
    begun[3]?.end();
    expect(await Promise.all(later)).to.deep.equal(['c', 'd', 'e', 'f']);
  });

  it('that run at once have no lane in common', async () => {
    const { groups, begun } = openGroups({ groupsMax: 2, itemsMax: 9 });
    const first = groups.join('k', 'one', 'a');
    await turn();
    const rest = [groups.join('k', 'one', 'b'), groups.join('k', 'two', 'c')];
    await turn();
    expect(begun.map(({ items }) => items)).to.deep.equal([['a'], ['c']]);
    begun[1]?.end();
    await rest[1];
    await turn();
    // 'b' waits for the lane of 'a' still.
    expect(begun).to.have.length(2);
    begun[0]?.end();
    await first;
    await turn();
    expect(begun[2]?.items).to.deep.equal(['b']);
    begun[2]?.end();
    expect(await rest[0]).to.equal('b');
  });

  it('begin beside one that runs when that lasts longer, and not before', async () => {
    const { groups, begun } = openGroups({ groupsMax: 2, itemsMax: 9, patienceMs: 20 });
    const since = performance.now();
    const first = groups.join('k', 'a', 'a');
    await turn();
    const rest = [groups.join('k', 'b', 'b'), groups.join('k', 'c', 'c')];
    while (begun.length < 2) await turn();
    expect(performance.now() - since).to.be.at.least(20);
    expect(begun[1]?.items).to.deep.equal(['b', 'c']);
    begun[1]?.end();
    begun[0]?.end();
    expect(await Promise.all([first, ...rest])).to.deep.equal(['a', 'b', 'c']);
  });

  it('end each item for itself, and all of them where the group fails', async () => {
    const { groups, begun } = openGroups({ groupsMax: 1, itemsMax: 9 });
    const both = Promise.allSettled([groups.join('k', 'a', 'a'), groups.join('k', 'b', 'b')]);
    await turn();
    begun[0]?.end([
      { status: 'rejected', reason: 'too little' },
      { status: 'fulfilled', value: 'b' },
    ]);
    expect(await both).to.deep.equal([
      { status: 'rejected', reason: 'too little' },
      { status: 'fulfilled', value: 'b' },
    ]);
    const failing = Promise.allSettled([groups.join('k', 'a', 'a'), groups.join('k', 'b', 'b')]);
    await turn();
    begun[1]?.end([]);
    expect((await failing).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    const after = groups.join('k', 'a', 'c');
    await turn();
    begun[2]?.end();
    expect(await after).to.equal('c');
  });
});
