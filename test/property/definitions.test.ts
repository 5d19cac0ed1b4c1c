import { expect } from 'chai';
import fc from 'fast-check';
import type { FakeResult } from '../../src/flows/workflows/dry-host.js';
import type { Definition } from '../../src/messages/definitions/definition.js';
import { tasksOf } from '../support/workflows/random-definitions.js';
import {
  carryOut,
  definitionOf,
  startMs,
  StoppingHost,
} from '../support/workflows/stopping-host.js';

/** What calls give follows from their place alone: some fail, but in branches, where a failure is a race. */
function resultOf(path: string): FakeResult {
  if (path.includes('/fork/')) return { output: { n: path.length } };
  const sum = [...path].reduce((all, letter) => all + letter.charCodeAt(0), 0);
  if (sum % 5 === 0) return { error: { status: 409, detail: 'Taken.' } };
  return { output: { n: sum } };
}

interface Ran {
  readonly output: unknown;
  readonly fault: unknown;
  readonly calls: readonly string[];
  readonly seqs: readonly number[];
  readonly undo: readonly string[];
  readonly stops: number;
  readonly endedAt: number;
}

/** Carries out a definition, and tells what came of it. */
async function run(definition: Definition, every: number, isSlow = false): Promise<Ran> {
  const host = new StoppingHost(every, isSlow, resultOf);
  const { state, ...ended } = await carryOut(definition, host);
  return {
    ...ended,
    calls: host.calls.map(({ path, with: given }) => `${path} ${JSON.stringify(given)}`),
    seqs: host.calls.map(({ seq }) => seq),
    undo: state.undo.map(({ path }) => path),
    endedAt: host.now(),
  };
}

const call = { call: 'http', with: { method: 'GET', endpoint: 'https://a.example' } };
const undo = { call: 'http', with: { method: 'DELETE', endpoint: 'https://a.example' } };
const random = { call, undo, waitMaxMs: 5_000_000, delay: { seconds: 5 } };

/** A race of a branch that makes a call, and is kept before it, with one that has more to do and is not. */
const race = [
  {
    t0: {
      fork: {
        compete: true,
        branches: [
          { t0: { do: [{ t0: { ...call, 'durabill.undo': undo } }] } },
          {
            t1: {
              if: '${ workflow.input.n > 1 }',
              do: [
                {
                  t0: {
                    do: [
                      { t0: { set: { of: '${ workflow.input.n }' } } },
                      { t1: { if: '${ workflow.input.list.size() == 0 }', wait: { seconds: 1 } } },
                    ],
                  },
                },
              ],
            },
          },
        ],
      },
    },
  },
];

const limitMs = 31 * 86_400_000;

describe('random definitions', function () {
  this.timeout(120_000);

  // spec/beyond.md R359
  it('end, or are over in time, and do the same whenever they are carried out', async () => {
    await fc.assert(
      fc.asyncProperty(tasksOf(3, { ...random, races: true }), async (tasks) => {
        const definition = definitionOf(tasks);
        const first = await run(definition, 0);
        expect(first.endedAt).to.be.at.most(startMs + limitMs + 1);
        expect(await run(definition, 0)).to.deep.equal(first);
      }),
      { numRuns: 150 },
    );
  });

  // spec/beyond.md R346, R359
  it('have the same winner of a race, however slow the machine is', async () => {
    const definition = definitionOf(race);
    const outputs = new Set<string>();
    for (let turn = 0; turn < 20; turn += 1) {
      outputs.add(JSON.stringify(await run(definition, 0, turn % 2 === 0)));
    }
    expect([...outputs]).to.have.length(1);
  });

  // spec/beyond.md R359
  it('do the same when they go on in another history between any two steps', async () => {
    let stops = 0;
    await fc.assert(
      fc.asyncProperty(
        tasksOf(2, { ...random, races: false }),
        fc.integer({ min: 1, max: 6 }),
        async (tasks, every) => {
          const definition = definitionOf(tasks);
          const whole = await run(definition, 0);
          const parts = await run(definition, every);
          stops += parts.stops;
          expect([parts.output, parts.fault]).to.deep.equal([whole.output, whole.fault]);
          expect([...parts.calls].sort()).to.deep.equal([...whole.calls].sort());
          expect([...parts.undo].sort()).to.deep.equal([...whole.undo].sort());
          // No step is done twice.
          expect(new Set(parts.seqs).size).to.equal(parts.seqs.length);
        },
      ),
      { numRuns: 600 },
    );
    expect(stops).to.be.above(100);
  });
});
