import { expect } from 'chai';
import type { HostCall } from '../../../src/interpreter/host.js';
import type { TaskRow } from '../../../src/messages/definitions/task.js';
import { rowKeeper, type RowsWay } from '../../../src/workflows/definitions/row-keeper.js';

const row = (seq: number): TaskRow => ({
  seq,
  path: `/do/${seq}`,
  name: 'a',
  kind: 'call',
  status: 'completed',
  startedAt: '2026-11-26T00:00:00.000Z',
  attempts: 1,
});
const call: HostCall = { seq: 3, path: '/do/3', call: 'durabill.operation', with: {} };

/** All that waits on promises only has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('the rows of a timeline', () => {
  const open = (way: RowsWay) => {
    const done: string[] = [];
    const keeping: (() => void)[] = [];
    const keeper = rowKeeper(way, {
      keep(rows, isInTurn, hidden) {
        const without = hidden.map((value) => ` without ${value}`).join('');
        const how = isInTurn ? ' in turn' : '';
        done.push(`keep ${rows.map(({ seq }) => seq).join()}${how}${without}`);
        return new Promise((resolve) => void keeping.push(resolve));
      },
      call(_call, rows = []) {
        done.push(`call with ${rows.length}`);
        return rows.length === 2 ? Promise.reject(new Error('made')) : Promise.resolve('answer');
      },
      answerOf: (error) =>
        error instanceof Error && error.message === 'made' ? { answer: 'kept' } : undefined,
    });
    return { done, keeping, keeper };
  };

  // spec/beyond.md R408
  it('that another branch has taken are kept before a secret is hidden in them', async () => {
    const { done, keeping, keeper } = open('before');
    expect(keeper.keepsRowsFirst).to.equal(true);
    const ofOther = keeper.keep([row(1)]);
    const answer = keeper.call(call, []);
    await settled();
    expect(done).to.deep.equal(['keep 1']);
    keeping[0]?.();
    await ofOther;
    expect(await answer).to.equal('answer');
    expect(done).to.deep.equal(['keep 1', 'call with 0']);
  });

  // spec/beyond.md R408
  it('that are noted while a secret is given its value are kept without it', async () => {
    const { done, keeping, keeper } = open('before');
    const put = (value: string): HostCall => ({
      ...call,
      with: { operationId: 'putSecret', parameters: { name: 'ONE' }, body: { value } },
    });
    void keeper.keep([row(1)]);
    const first = keeper.call(put('v1'), []);
    // It waits for the rows of another branch: rows of a third are kept without its value already.
    void keeper.keep([row(2)]);
    for (const keep of keeping) keep();
    await first;
    const second = keeper.call(put('v2'), []);
    // What was noted until now, and nothing that is noted later.
    void keeper.keep([row(4)]);
    keeping.at(-1)?.();
    await second;
    void keeper.keep([row(5)]);
    void keeper.keep([row(6)]);
    expect(done).to.deep.equal([
      'keep 1',
      'keep 2 without v1',
      'call with 0',
      'keep 4 without v1 without v2',
      'call with 0',
      'keep 5 without v2',
      'keep 6',
    ]);
  });

  it('that other branches noted meanwhile are kept before a call, and were lost once', async () => {
    for (const [way, expected] of [
      ['before', ['keep 2', 'call with 0']],
      ['lost', ['call with 0']],
    ] as const) {
      const { done, keeping, keeper } = open(way);
      const answer = keeper.call(call, [row(2)]);
      keeping[0]?.();
      await answer;
      expect(done).to.deep.equal(expected);
    }
  });

  it('go along with a call, which is not made again where they alone were not kept', async () => {
    const { done, keeping, keeper } = open('along');
    expect(await keeper.call(call, [row(1)])).to.equal('answer');
    const answer = keeper.call(call, [row(1), row(2)]);
    await settled();
    expect(done).to.deep.equal(['call with 1', 'call with 2', 'keep 1,2']);
    keeping[0]?.();
    expect(await answer).to.equal('kept');
  });

  it('are kept in turn as often as when old histories were written', () => {
    const counted = (way: RowsWay): number => {
      const { done, keeper } = open(way);
      for (let at = 0; at < 10; at += 1) {
        void keeper.keep([row(at)]);
        void keeper.call(call, []);
      }
      return done.filter((one) => one.endsWith('in turn')).length;
    };
    // A call resets nothing there: the tenth step is the one of another kind.
    expect(counted('old')).to.equal(1);
    expect(counted('along')).to.equal(0);
  });
});
