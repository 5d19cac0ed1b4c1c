import { expect } from 'chai';
import { DryHost } from '../../../src/flows/workflows/dry-host.js';
import { Interpreter } from '../../../src/interpreter/interpreter.js';
import type { DefinitionState } from '../../../src/interpreter/state.js';
import { TaskError, taskError } from '../../../src/interpreter/task-error.js';
import { undoAll } from '../../../src/interpreter/undo.js';
import type { TaskList } from '../../../src/messages/definitions/definition.js';
import type { KeptUndos, TaskCall } from '../../../src/messages/definitions/task.js';
import { endedDefinition } from '../../../src/workflows/definitions/ended-definition.js';
import { newState, startMs } from '../../support/workflows/stopping-host.js';

const document = { dsl: '1.0.0', namespace: 'test', name: 'undone', version: '1.0.0' };

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A dry run has less than an execution may have. */
class ExecutionHost extends DryHost {
  fails = (): boolean => false;

  override keep(): Promise<void> {
    return Promise.resolve();
  }

  override async keepUndos({ block, calls }: KeptUndos): Promise<void> {
    await Promise.resolve();
    if (this.fails()) throw taskError('', 500, 'Not kept.');
    this.undos.set(block, calls);
  }
}

/** Carries out tasks that fail in the end, and takes them back in histories of so many calls. */
async function undo(
  tasks: TaskList,
  input: object,
  { perHistory = 1_000_000, fails = (): boolean => false } = {},
) {
  const host = new ExecutionHost(
    startMs,
    () => ({ output: {} }),
    () => false,
  );
  host.fails = fails;
  let state = newState();
  const interpreter = new Interpreter(state, host);
  const ran = interpreter.run({ document, do: tasks }, input, { workflow: { input } });
  const fault = await ran.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof TaskError) return error.fault;
      throw error;
    },
  );
  const carried = [bytesOf(state.undo)];
  const called: TaskCall[] = [];
  for (let histories = 1; ; histories += 1) {
    let left = perHistory;
    const undone = await undoAll(state, {
      call(task) {
        left -= 1;
        called.push(task);
        return task.seq === 13 ? Promise.reject(new Error('No.')) : Promise.resolve();
      },
      read: (block) => Promise.resolve(host.undos.get(block) ?? []),
      isHistoryLong: () => left <= 0,
    });
    if (undone) {
      const blocks = [...host.undos.values()].map(bytesOf);
      return { fault, undone, called, histories, carried, blocks };
    }
    carried.push(bytesOf(state.undo));
    // All that goes on is the state as JSON.
    state = JSON.parse(JSON.stringify(state)) as DefinitionState;
  }
}

const text = '${ workflow.input.text }';
const back = {
  call: 'http',
  with: { method: 'POST', endpoint: 'https://a.example', body: text },
};
const kept = { set: { n: 1 }, 'durabill.undo': back };
const stop = { raise: { error: { type: 'urn:stop', status: 409, title: 'Stop' } } };
const loop = (task: object) => ({ for: { in: '${ workflow.input.list }' }, do: [{ one: task }] });
const listOf = (length: number): number[] => Array.from({ length }, (_each, at) => at);
const path = '/do/0/loop/do/0/one';

describe('what takes tasks back', () => {
  // spec/beyond.md R409, R415
  for (const [what, letter] of [
    ['letters of one byte', 'x'],
    ['letters of three bytes', '語'],
    ['halves of pairs, which are six', '\ud800'],
  ] as const) {
    it(`is all done, however much it is, and little of it is carried on: ${what}`, async () => {
      const input = { list: listOf(10), text: letter.repeat(30_000) };
      const large = { ...back, with: { ...back.with, query: [text, text] } };
      const tasks = [{ loop: loop({ ...kept, 'durabill.undo': large }) }, { stop }];
      const ran = await undo(tasks, input, { perHistory: 3 });
      expect(ran.fault?.title).to.equal('Stop');
      // Run 1 is the loop itself, and run 12 what stops it.
      expect(ran.called.map(({ seq }) => seq)).to.deep.equal([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
      for (const { with: given } of ran.called) {
        expect(given).to.deep.include({ body: input.text, query: [input.text, input.text] });
      }
      expect(ran.undone).to.deep.equal(listOf(10).map(() => path));
      expect(ran.histories).to.equal(4);
      // 256 KiB, and what stands beside it.
      for (const bytes of ran.carried) expect(bytes).to.be.below(270_000);
    });
  }

  // spec/beyond.md R332
  it('is done in as many histories as it needs, the newest first, and what fails is named', async () => {
    const input = { list: listOf(20), text: 'x' };
    const ran = await undo([{ loop: loop(kept) }, { stop }], input, { perHistory: 1 });
    expect(ran.histories).to.equal(20);
    expect(ran.called.map(({ seq }) => seq)).to.deep.equal(listOf(20).map((at) => 21 - at));
    // Run 13 is the twelfth of the loop, eight from its end.
    const names = listOf(20).map((at) => (at === 8 ? `${path} (failed)` : path));
    expect(ran.undone).to.deep.equal(names);
  });

  // spec/beyond.md R332
  it('is done also where its block could not be kept', async () => {
    let keeps = 0;
    const input = { list: listOf(10), text: 'x'.repeat(100_000) };
    const ran = await undo([{ loop: loop(kept) }, { stop }], input, {
      fails: () => (keeps += 1) === 2,
    });
    // Three at once are kept; the second time that fails the sixth, which was done.
    expect(ran.fault).to.deep.include({ detail: 'Not kept.' });
    expect(ran.called.map(({ seq }) => seq)).to.deep.equal([7, 6, 5, 4, 3, 2]);
  });

  /** Branches whose calls are made at the same time; what each of them puts out is a fault. */
  const forkOf = (branches: number) => {
    const given = { method: 'POST', endpoint: 'https://a.example' };
    const made = { call: 'http', with: given, 'durabill.undo': back };
    const failing = { ...made, output: { as: '${ output.nothing }' } };
    return { fork: { branches: listOf(branches).map((at) => ({ [`b${at}`]: failing })) } };
  };

  // spec/beyond.md R332, R415
  for (const [what, first, newest, tasks] of [
    ['fail', 2, [], [{ fork: forkOf(10) }]],
    [
      'fail in a `try`',
      3,
      [13],
      [{ tried: { try: [{ fork: forkOf(10) }], catch: {} } }, { kept }, { stop }],
    ],
  ] as const) {
    it(`is kept in blocks that can be read again also of tasks that ${what} after their calls`, async () => {
      const ran = await undo(tasks, { text: 'x'.repeat(250_000) });
      // The first branch writes what all of them do before its call, and is done last.
      const others = listOf(9).map((at) => first + 9 - at);
      expect(ran.called.map(({ seq }) => seq)).to.deep.equal([...newest, first, ...others]);
      // Of 250 KB each the second one is too much.
      expect(ran.blocks).to.have.length(5);
      for (const bytes of ran.blocks) expect(bytes).to.be.below(510_000);
      expect(ran.carried[0]).to.be.below(262_144);
    });
  }

  // spec/beyond.md R332
  it('is kept one block after the other, in the order in which it was done, also after a failure', async () => {
    let keeps = 0;
    const large = {
      ...kept,
      'durabill.undo': { ...back, with: { ...back.with, query: [text, text] } },
    };
    const branches = listOf(3).map((at) => ({ [`b${at}`]: large }));
    const ran = await undo(
      [{ fork: { fork: { branches } } }],
      { text: 'x'.repeat(100_000) },
      {
        fails: () => (keeps += 1) === 1,
      },
    );
    // The first one fails with its block, which is kept with the next try.
    expect(ran.fault).to.deep.include({ detail: 'Not kept.' });
    expect(ran.blocks).to.have.length(3);
    expect(ran.called.map(({ seq }) => seq)).to.deep.equal([4, 3, 2]);
  });

  // spec/beyond.md R332
  it('where it cannot be kept, only tasks that are to be taken back are not begun', async () => {
    const large = {
      ...kept,
      'durabill.undo': { ...back, with: { ...back.with, query: [text, text] } },
    };
    const tried = (task: object) => ({ try: [{ one: task }], catch: {} });
    const set = { set: { n: 2 } };
    const tasks = [{ large: tried(large) }, { small: tried(kept) }, { set }, { stop }];
    const ran = await undo(tasks, { text: 'x'.repeat(100_000) }, { fails: () => true });
    expect(ran.fault?.title).to.equal('Stop');
    // Run 2 is the large one; the small one would be run 4.
    expect(ran.called.map(({ seq }) => seq)).to.deep.equal([2]);
  });

  // spec/beyond.md R415
  it('is carried on without most of the block that was read when the history became long', async () => {
    const given = (bytes: number) => ({ path, call: 'http', with: 'x'.repeat(bytes) });
    const block = [
      { seq: 1, ...given(250_000) },
      { seq: 2, ...given(1_000_000) },
    ];
    const state = { ...newState(), undoBlocks: 1 };
    const called: number[] = [];
    let isLong = false;
    const undone = await undoAll(state, {
      call: ({ seq }) => Promise.resolve(called.push(seq)),
      read() {
        isLong = true;
        return Promise.resolve(block);
      },
      isHistoryLong: () => isLong,
    });
    expect(undone).to.equal(undefined);
    expect(called).to.deep.equal([2]);
    expect(bytesOf(state.undo)).to.be.below(262_144);
    expect(state.undoBlocks).to.equal(0);
  });

  // spec/beyond.md R332
  it('is told as not done where a block is gone that was kept', async () => {
    const one = { seq: 1, path, call: 'http', with: 'x' };
    const undone = await undoAll(
      { ...newState(), undoBlocks: 2 },
      {
        call: () => Promise.resolve(),
        read: (block) => Promise.resolve(block === 1 ? [one] : []),
        isHistoryLong: () => false,
      },
    );
    expect(undone).to.deep.equal(['tasks whose calls are gone (failed)', path]);
  });

  // spec/beyond.md R415
  it('goes on with a definition that calls nobody, where a worker has older code', async () => {
    const host = new ExecutionHost(
      startMs,
      () => ({ output: {} }),
      () => false,
    );
    const definition = { document, do: [{ one: { call: 'http', with: back.with } }] };
    const ended = endedDefinition(definition, { status: 422 });
    const ran = new Interpreter(newState(), host).run(ended, {}, { workflow: { input: {} } });
    const error = await ran.catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(TaskError);
    expect((error as TaskError).fault.status).to.equal(422);
    expect(host.calls).to.deep.equal([]);
  });

  // spec/beyond.md R332
  it('is told by as many names as an error can have, and the number of the others', async () => {
    const name = 'a'.repeat(63);
    const inner = { for: { in: '${ workflow.input.list }' }, do: [{ [name]: kept }] };
    const tasks = [{ [name]: loop(inner) }, { stop }];
    const ran = await undo(tasks, { list: listOf(60), text: 'x' });
    const { undone, called } = ran;
    expect(called).to.have.length(3_600);
    const [last] = undone.slice(-1);
    const named = undone.length - 1;
    // Each has 147 characters, its quotes and a comma: 262,144 / 150 = 1,747.6.
    expect(bytesOf(undone[0])).to.equal(149);
    expect(named).to.equal(1_747);
    expect(last).to.equal('and 1853 more, 1 of them (failed)');
  });
});
