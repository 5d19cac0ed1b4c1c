import { expect } from 'chai';
import { DryHost, type FakeResult } from '../../../src/flows/workflows/dry-host.js';
import { Interpreter } from '../../../src/interpreter/interpreter.js';
import { TaskError } from '../../../src/interpreter/task-error.js';
import { undoAll } from '../../../src/interpreter/undo.js';
import { Decimal } from '../../../src/kernel/numbers/money.js';
import { isLongerThan } from '../../../src/kernel/text/json-length.js';
import type { TaskList } from '../../../src/messages/definitions/definition.js';
import { newState, startMs } from '../../support/workflows/stopping-host.js';

const document = { dsl: '1.0.0', namespace: 'test', name: 'carried-out', version: '1.0.0' };

/** A dry run ends after fewer tasks than an execution. */
class EndlessHost extends DryHost {
  override keep(): Promise<void> {
    return Promise.resolve();
  }
}

/** Carries out tasks; each call gives what the result says. */
async function carryOut(
  tasks: TaskList,
  input: unknown,
  result: FakeResult = { output: {} },
  isPartingCounted = true,
) {
  const host = new EndlessHost(
    startMs,
    () => result,
    () => false,
  );
  Object.assign(host, { isPartingCounted });
  const state = newState();
  const interpreter = new Interpreter(state, host);
  try {
    const output = await interpreter.run({ document, do: tasks }, input, { workflow: { input } });
    return { output };
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    const undone = await undoAll(state, {
      call: () => Promise.resolve(),
      read: (block) => Promise.resolve(host.undos.get(block) ?? []),
      isHistoryLong: () => false,
    });
    return { fault: error.fault, undone };
  }
}

const call = { call: 'http', with: { method: 'GET', endpoint: 'https://a.example' } };
const takenBack = (endpoint: string) => ({
  ...call,
  'durabill.undo': { call: 'http', with: { method: 'DELETE', endpoint } },
});

describe('carrying out a definition', () => {
  // spec/beyond.md R398
  for (const name of ['type', 'title', 'detail']) {
    it(`an error whose ${name} is no text is a fault of its task`, async () => {
      const error = { type: 'urn:x', status: 409, title: 'T', detail: 'D', [name]: '${ input }' };
      const ran = await carryOut([{ stop: { raise: { error } } }], { a: 1 });
      expect(ran.fault).to.deep.include({
        status: 400,
        instance: '/do/0/stop',
        detail: `The ${name} of the error that is raised is no text.`,
      });
    });
  }

  // spec/beyond.md R332
  it('an undo that cannot be said fails its task, and the others go on', async () => {
    const ran = await carryOut(
      [
        { first: takenBack('https://a.example/1') },
        { second: takenBack('${ output.nothing }') },
        { third: takenBack('https://a.example/3') },
      ],
      {},
    );
    expect(ran.fault?.instance).to.equal('/do/1/second');
    expect(ran.fault?.detail).to.contain('No such key: nothing');
    expect(ran.undone).to.deep.equal(['/do/1/second (failed)', '/do/0/first']);
  });

  it('an undo that cannot be said leaves the first cause as it was', async () => {
    const tried = { try: [{ second: takenBack('${ output.nothing }') }], catch: {} };
    const stop = { raise: { error: { type: 'urn:stop', status: 409, detail: 'No.' } } };
    const tasks = [{ first: takenBack('https://a.example/1') }, { tried }, { stop }];
    const ran = await carryOut(tasks, {});
    expect(ran.fault).to.include({ type: 'urn:stop', detail: 'No.' });
    expect(ran.undone).to.deep.equal(['/do/1/tried/try/0/second (failed)', '/do/0/first']);
  });

  // spec/beyond.md R332
  describe('a text that cannot be stored', () => {
    const first = takenBack('https://a.example/1');
    const nul = '${ "a\\u0000" }';
    const detail =
      'A text has a character that cannot be stored: U+0000, or half of a surrogate pair.';

    for (const [what, second, result] of [
      ['that a task sets', { set: { x: nul } }],
      ['that a task exports', { set: { x: 1 }, export: { as: { x: nul } } }],
      ['in a name', { set: { x: '${ {"a\\u0000": 1} }' } }],
      ['of an event', { emit: { event: { with: { type: 'custom.x', data: { x: nul } } } } }],
      ['of a server', call, { output: { x: '\0' } }],
      ['of half a pair', call, { output: { x: '\ud800' } }],
    ] as const) {
      it(`${what} is a fault of its task, which is undone`, async () => {
        const undone = result ? [] : ['/do/0/first'];
        const tasks = result ? [{ second }] : [{ first }, { second }];
        const ran = await carryOut(tasks, {}, result);
        expect(ran.fault).to.deep.include({
          status: 400,
          detail,
          instance: `/do/${tasks.length - 1}/second`,
        });
        expect(ran.undone).to.deep.equal(undone);
      });
    }

    it('is not one that is written with a backslash', async () => {
      const ran = await carryOut([{ a: { set: { x: String.raw`\u0000 \\u0000` } } }], {});
      expect(ran.output).to.deep.equal({ x: String.raw`\u0000 \\u0000` });
    });

    it('is shown otherwise where a fault tells it', async () => {
      const ran = await carryOut([{ a: { set: { x: '${ input["\\u0000"] }' } } }], {});
      expect(ran.fault?.detail).to.contain('\uFFFD').and.not.contain('\0');
    });
  });

  // spec/beyond.md R325
  it('takes names of JavaScript in data for names', async () => {
    const data = JSON.parse('{"constructor": 1, "__proto__": {"a": 2}, "toString": "x"}') as object;
    const kept = await carryOut([{ keep: { set: { of: '${ input }' } } }], data);
    expect(JSON.stringify(kept.output)).to.equal(`{"of":${JSON.stringify(data)}}`);
    const read = { set: { n: '${ input.constructor + input.__proto__.a }' } };
    expect(await carryOut([{ read }], data)).to.deep.equal({ output: { n: 3 } });
    const looked = { set: { has: '${ has(input.toString) }' } };
    expect(await carryOut([{ looked }], {})).to.deep.equal({ output: { has: false } });
  });

  // spec/beyond.md R333
  it('ends with run 10,001 of a task, also where that is caught', async () => {
    const list = (length: number) => Array.from({ length }, (_each, index) => index);
    const inner = { for: { in: '${ workflow.input.inner }' }, do: [{ one: { set: { n: 1 } } }] };
    const outer = { for: { in: '${ workflow.input.outer }' }, do: [{ inner }] };
    // 1 + 99 * (1 + 100) = 10,000.
    const most = { outer: list(99), inner: list(100) };
    expect(await carryOut([{ outer }], most)).to.deep.equal({ output: { n: 1 } });
    const tried = { try: [{ outer }], catch: { do: [{ after: { set: { n: 2 } } }] } };
    const ran = await carryOut([{ tried }, { last: { set: { n: 3 } } }], most);
    expect(ran.fault).to.include({ status: 500, instance: '/do/0/tried/catch/do/0/after' });
    expect(ran.fault?.detail).to.equal('An execution runs at most 10000 tasks.');
  });

  // spec/beyond.md R409
  describe('what expressions make of one long text', () => {
    const text = 'x'.repeat(250_000);
    const often = `\${ [${Array.from({ length: 160 }, () => 'input.text').join(',')}] }`;
    const much = Object.fromEntries(Array.from({ length: 60 }, (_each, at) => [`k${at}`, often]));
    for (const [what, task] of [
      ['is set', { set: much }],
      ['is given to a task', { input: { from: much }, set: { x: 1 } }],
      ['is given to a call', { ...call, with: { ...call.with, query: much } }],
      [
        'is given to what takes a task back',
        { ...call, 'durabill.undo': { call: 'http', with: { body: much } } },
      ],
      ['is an error', { raise: { error: { type: 'urn:x', status: 409, detail: often } } }],
      ['is a condition', { if: often, set: { x: 1 } }],
      ['is kept', { set: { x: 1 }, export: { as: much } }],
    ] as const) {
      it(`is measured before it is written, where it ${what}`, async () => {
        const since = performance.now();
        const ran = await carryOut([{ a: task }], { text });
        // To write it takes twenty seconds, and then it is no string any more.
        expect(performance.now() - since).to.be.below(1_000);
        expect(ran.fault?.instance).to.equal('/do/0/a');
        expect(ran.fault?.detail).to.match(/more than \d+ bytes|gave much, not true or false/);
      });
    }
  });

  // spec/beyond.md R409
  describe('the expressions of one task', () => {
    // Some 95,000 each, of 500,000 that those of a task may cost: five are fine, six are not.
    const one = '${ input.l.all(a, input.l.all(b, input.l.all(c, a + b + c >= 0))) }';
    const some = (count: number) => ({
      input: { from: { l: '${ workflow.input.l }' } },
      set: Object.fromEntries(Array.from({ length: count }, (_each, at) => [`k${at}`, one])),
    });
    const l = Array.from({ length: 20 }, (_each, at) => at);

    it('cost no more than others can wait for', async () => {
      const ran = await carryOut([{ a: some(6) }], { l });
      expect(ran.fault?.detail).to.equal(
        'The expressions of the task cost more than those of one may.',
      );
    });

    it('count what functions take apart, but in executions that began before that', async () => {
      // Some 71,000 each: 250,000 characters are a quarter of it units, and a thirty-second.
      const text = 'x y '.repeat(62_500);
      const parts = (count: number) => {
        const names = Array.from({ length: count }, (_each, at) => `k${at}`);
        const set = Object.fromEntries(
          names.map((name) => [name, '${ size(input.text.split(" ")) }']),
        );
        return [{ a: { set } }];
      };
      expect((await carryOut(parts(7), { text })).fault).to.equal(undefined);
      expect((await carryOut(parts(8), { text })).fault?.detail).to.equal(
        'The expressions of the task cost more than those of one may.',
      );
      const before = await carryOut(parts(8), { text }, { output: {} }, false);
      expect(before.fault).to.equal(undefined);
    });

    it('cost nothing to the tasks after it, and beside it in a fork', async () => {
      const branches = ['a', 'b', 'c'].map((name) => ({ [name]: some(5) }));
      const ran = await carryOut([{ first: some(5) }, { all: { fork: { branches } } }], { l });
      expect(ran.fault).to.equal(undefined);
    });
  });
});

// spec/beyond.md R409
describe('how long a value is as JSON', () => {
  const values: readonly unknown[] = [
    'a"\\\n\u0001é語😀',
    { 'é"': [1, -2.5, true, null, 'x'], b: {} },
    ['\u0001'.repeat(1_000), { a: [['語'.repeat(1_000)]] }],
    // Halves of a pair are written as escapes.
    ['\ud800', 'a\udc00b', '\udc00\ud800', '\ud83d\ude00\ud83d'],
  ];
  for (const value of values) {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    it(`is found for ${bytes} bytes`, () => {
      expect(isLongerThan(value, bytes)).to.equal(false);
      expect(isLongerThan(value, bytes - 1)).to.equal(true);
    });
  }

  it('counts the digits of a number that no double holds', () => {
    // {"n":12345678901234567890.5} has 28 signs.
    const value = { n: new Decimal('12345678901234567890.5') };
    expect(isLongerThan(value, 28)).to.equal(false);
    expect(isLongerThan(value, 27)).to.equal(true);
  });
});
