import { setTimeout as wait } from 'node:timers/promises';
import type { Cell } from '../database/cell.js';
import type { Logger } from '../log.js';

/** How long a look waits for a cell before it goes on without it. */
const patienceMs = 500;

interface AskOptions {
  readonly log: Logger;
  /** What the log says of a cell that does not answer. */
  readonly failure: string;
}

/**
 * Asks cells for something that changes nothing. A cell that fails, or takes longer than a moment, is
 * left out and not asked again before it has answered, so that the others never wait for it.
 * Where there is one cell, its failure is the caller's.
 */
export class CellAsker {
  readonly #options: AskOptions;
  readonly #isAlone: boolean;
  readonly #asking = new Set<string>();

  constructor(cells: readonly Cell[], options: AskOptions) {
    this.#isAlone = cells.length === 1;
    this.#options = options;
  }

  /** The answers of those that answered, in no order. */
  async ask<T>(
    cells: readonly Cell[],
    work: (cell: Cell) => Promise<T>,
  ): Promise<readonly { readonly cell: Cell; readonly answer: T }[]> {
    const asked = cells.map(async (cell) => {
      if (this.#isAlone) return { cell, answer: await work(cell) };
      return this.#askOne(cell, work);
    });
    const answers = await Promise.all(asked);
    return answers.flatMap((answer) => answer ?? []);
  }

  async #askOne<T>(cell: Cell, work: (cell: Cell) => Promise<T>) {
    const { name } = cell;
    if (this.#asking.has(name)) return undefined;
    this.#asking.add(name);
    const limit = new AbortController();
    const asked = work(cell)
      .then((answer) => ({ cell, answer }))
      .catch((error: unknown) => {
        this.#options.log.warn({ err: error, cell: name }, this.#options.failure);
        return undefined;
      })
      .finally(() => {
        this.#asking.delete(name);
        limit.abort();
      });
    const patience = wait(patienceMs, undefined, { signal: limit.signal }).catch(() => undefined);
    return Promise.race([asked, patience]);
  }
}
