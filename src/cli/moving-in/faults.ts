/** Faults of a file that are named one by one; the rest are counted. */
const shownMax = 20;

/** Takes what is wrong, and where it stands: `prices.csv, line 3`. */
export type TakeFault = (place: string, fault: string) => void;

/** For files of which the first fault ends all. */
export const throwFault: TakeFault = (place, fault) => {
  throw new Error(`${place}: ${fault}`);
};

interface FileFaults {
  readonly shown: string[];
  count: number;
}

/** What is wrong in the files of an import: all of it is found before anything is written. */
export class Faults {
  readonly #files = new Map<string, FileFaults>();

  readonly add: TakeFault = (place, fault) => {
    const [file = place] = place.split(', ', 1);
    const known = this.#files.get(file) ?? { shown: [], count: 0 };
    this.#files.set(file, known);
    known.count += 1;
    if (known.count <= shownMax) known.shown.push(`${place}: ${fault}`);
  };

  throwAny(): void {
    if (this.#files.size === 0) return;
    const lines = [...this.#files].flatMap(([file, { shown, count }]) => [
      ...shown,
      ...(count > shown.length ? [`and ${count - shown.length} more in ${file}`] : []),
    ]);
    throw new Error(`Nothing was imported:\n${lines.join('\n')}`);
  }
}
