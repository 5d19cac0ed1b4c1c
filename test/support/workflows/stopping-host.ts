import { expect } from 'chai';
import { definitionFaults } from '../../../src/commands/workflows/check-definition.js';
import { DryHost, type FakeResult } from '../../../src/flows/workflows/dry-host.js';
import { Interpreter } from '../../../src/interpreter/interpreter.js';
import type { DefinitionState } from '../../../src/interpreter/state.js';
import { Suspended, TaskError } from '../../../src/interpreter/task-error.js';
import type { Definition } from '../../../src/messages/definitions/definition.js';
import type { Json } from './random-definitions.js';

export const startMs = Date.parse('2026-11-25T00:00:00Z');
/** What random definitions are given. */
export const start = { n: 2, list: [1, 2, 3] };

/** A host whose history is long after so many steps: calls, waits and what is written. */
export class StoppingHost extends DryHost {
  readonly #every: number;
  readonly #isSlow: boolean;
  #steps = 0;

  constructor(every: number, isSlow: boolean, resultOf: (path: string) => FakeResult | undefined) {
    super(startMs, resultOf, () => false);
    this.#every = every;
    this.#isSlow = isSlow;
  }

  override isHistoryLong(): boolean {
    return this.#every > 0 && this.#steps >= this.#every;
  }

  override call(...given: Parameters<DryHost['call']>): Promise<unknown> {
    this.#steps += 1;
    return super.call(...given);
  }

  override wait(...given: Parameters<DryHost['wait']>): Promise<boolean> {
    this.#steps += 1;
    return super.wait(...given);
  }

  override keep(...given: Parameters<DryHost['keep']>): Promise<void> {
    this.#steps += 1;
    // Longer than a portion: as on a machine that others use as well.
    const until = this.#isSlow && this.#steps < 20 ? performance.now() + 4 : 0;
    while (performance.now() < until);
    return super.keep(...given);
  }

  beginHistory(): void {
    this.#steps = 0;
  }
}

/** Of an execution that has not begun. */
export const newState = (): DefinitionState => ({
  seq: 0,
  context: {},
  cost: 0,
  startedMs: startMs,
  secretMark: 'mark',
  undo: [],
  root: {},
});

/** Tasks as a definition without faults. */
export const definitionOf = (tasks: Json[]): Definition => {
  const document = { dsl: '1.0.0', namespace: 'test', name: 'random', version: '1.0.0' };
  const definition = { document, do: tasks };
  expect(definitionFaults(definition, { secrets: new Set() })).to.deep.equal([]);
  return definition as unknown as Definition;
};

/** How an execution ended. */
export interface Ended {
  readonly state: DefinitionState;
  readonly output: unknown;
  readonly fault: unknown;
  /** How often it went on in another history. */
  readonly stops: number;
}

/** As all of it that goes on in another history. */
export const carriedOn = (state: DefinitionState): DefinitionState =>
  JSON.parse(JSON.stringify(state)) as DefinitionState;

/** Carries out a definition; whenever it stops, all that goes on is its state as JSON. */
export async function carryOut(definition: Definition, host: StoppingHost): Promise<Ended> {
  let state = newState();
  for (let stops = 0; ; stops += 1) {
    const interpreter = new Interpreter(state, host);
    try {
      const output = await interpreter.run(definition, start, { workflow: { input: start } });
      return { state, output, fault: null, stops };
    } catch (error) {
      if (error instanceof TaskError) return { state, output: null, fault: error.fault, stops };
      if (!(error instanceof Suspended)) throw error;
      await interpreter.flush();
      host.beginHistory();
      state = carriedOn(state);
    }
  }
}
