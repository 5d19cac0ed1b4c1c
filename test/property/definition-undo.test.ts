import { expect } from 'chai';
import fc from 'fast-check';
import { taskError } from '../../src/interpreter/task-error.js';
import { undoAll } from '../../src/interpreter/undo.js';
import { tasksOf } from '../support/workflows/random-definitions.js';
import {
  carriedOn,
  carryOut,
  definitionOf,
  StoppingHost,
  type Ended,
} from '../support/workflows/stopping-host.js';

const endpoint = 'https://a.example';
const made = { call: 'http', with: { method: 'POST', endpoint } };
const undo = {
  call: 'http',
  with: { method: 'DELETE', endpoint, query: { id: '${ output.id }' } },
};
const random = {
  call: { call: 'http', with: { method: 'GET', endpoint } },
  made,
  undo,
  waitMaxMs: 5_000_000,
  delay: { seconds: 5 },
};

type Called = Parameters<StoppingHost['call']>[0];
const methodOf = ({ with: given }: Pick<Called, 'with'>) => (given as typeof made.with).method;

/** What calls make, each under an id of its own; every seventh outside of branches is refused. */
class MakingHost extends StoppingHost {
  readonly made: string[] = [];
  #count = 0;

  constructor(every: number) {
    super(every, false, () => undefined);
  }

  override async call(...given: Parameters<StoppingHost['call']>): Promise<unknown> {
    await super.call(...given);
    const [called] = given;
    if (methodOf(called) !== 'POST') return null;
    this.#count += 1;
    if (this.#count % 7 === 0 && !called.path.includes('/fork/')) {
      throw taskError(called.path, 409, 'Taken.');
    }
    const id = `thing ${this.#count}`;
    this.made.push(id);
    return { id };
  }
}

/** Takes back all that was done, each history of `every` calls; gives the ids in their order. */
async function takeBack({ state: ended }: Ended, every: number): Promise<string[]> {
  const removed: string[] = [];
  let state = ended;
  for (;;) {
    let calls = 0;
    const undone = await undoAll(state, {
      call: (task) => {
        calls += 1;
        removed.push((task.with as { query: { id: string } }).query.id);
        return Promise.resolve(null);
      },
      read: () => Promise.resolve([]),
      isHistoryLong: () => calls >= every,
    });
    if (undone !== undefined) return removed;
    state = carriedOn(state);
  }
}

describe('random definitions that fail', function () {
  this.timeout(120_000);

  // spec/beyond.md R332
  it('leave what was before: all that they made is taken back once, the newest first', async () => {
    let things = 0;
    await fc.assert(
      fc.asyncProperty(
        tasksOf(2, { ...random, races: false }),
        fc.integer({ min: 1, max: 6 }),
        async (tasks, every) => {
          const fails = { raise: { error: { type: 'urn:no', status: 422 } } };
          const host = new MakingHost(every);
          const ended = await carryOut(definitionOf([...tasks, { last: fails }]), host);
          expect(ended.fault).to.not.equal(null);
          things += host.made.length;
          expect(await takeBack(ended, every)).to.deep.equal([...host.made].reverse());
        },
      ),
      { numRuns: 600 },
    );
    expect(things).to.be.above(100);
  });

  // spec/beyond.md R332, R346
  it('leave what was before also where branches race and fail beside each other', async () => {
    let things = 0;
    await fc.assert(
      fc.asyncProperty(tasksOf(3, { ...random, races: true }), async (tasks) => {
        const fails = { raise: { error: { type: 'urn:no', status: 422 } } };
        const host = new MakingHost(0);
        const ended = await carryOut(definitionOf([...tasks, { last: fails }]), host);
        things += host.made.length;
        const removed = await takeBack(ended, 3);
        expect([...removed].sort()).to.deep.equal([...host.made].sort());
      }),
      { numRuns: 150 },
    );
    expect(things).to.be.above(20);
  });
});
