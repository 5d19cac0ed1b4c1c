import type { Cell } from '../platform/database/cell.js';
import type { Logger } from '../platform/log.js';

interface WatchOptions {
  /** How often it looks by itself. */
  readonly everyMs: number;
  /** Whether it looks as soon as it is made, too. */
  readonly looksAtOnce?: boolean;
  /** What the log says of an error: the watch goes on. */
  readonly failure: string;
  readonly look: (watch: Watch) => Promise<void>;
}

/** What a drain stops. */
export interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Watches each cell by itself, so that one that does not answer holds up no other; `options` says what
 * is looked for in a cell.
 */
export function watchCells(
  {
    log,
    database,
  }: { readonly log: Logger; readonly database: { readonly cells: readonly Cell[] } },
  options: (cell: Cell) => WatchOptions,
): Stoppable {
  const watches = database.cells.map((cell) => new Watch({ log }, options(cell)));
  return {
    async stop() {
      await Promise.all(watches.map((watch) => watch.stop()));
    },
  };
}

/** Work in the background that is repeated until it is stopped, never twice at the same time. */
export class Watch {
  readonly #log: Logger;
  readonly #options: WatchOptions;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #mustLookAgain = false;
  #isStopped = false;

  constructor({ log }: { readonly log: Logger }, options: WatchOptions) {
    this.#log = log;
    this.#options = options;
    this.#timer = setInterval(() => this.#start(), options.everyMs);
    if (options.looksAtOnce === true) this.wake();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Looks at once, and once more if it is called while it looks. */
  readonly wake = (): void => {
    if (this.#isStopped) return;
    this.#mustLookAgain = this.#looking !== undefined;
    this.#start();
  };

  /** Starts nothing more; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  #start(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#mustLookAgain) this.wake();
    });
  }

  async #look(): Promise<void> {
    try {
      await this.#options.look(this);
    } catch (error) {
      this.#log.warn({ err: error }, this.#options.failure);
    }
  }
}
