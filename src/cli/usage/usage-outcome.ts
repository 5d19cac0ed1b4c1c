import { setTimeout as wait } from 'node:timers/promises';
import type { Static } from 'typebox';
import {
  outcomeEventsMax,
  outcomeRangesMax,
  type OutcomesBody,
  type UsageOutcomes,
} from '../../schemas/usage/usage-event.js';
import type { SentPlace } from './usage-sender.js';

type Outcomes = Static<typeof UsageOutcomes>;
type Range = OutcomesBody['ranges'][number];

/** The outcomes of the events of a file. */
export interface FileOutcome {
  readonly accepted: number;
  readonly rated: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly pending: number;
  /** Reason codes with the number of events, the most frequent first. */
  readonly reasons: readonly (readonly [code: string, events: number])[];
  /** Some of the rejected ones, by line. */
  readonly rejectedLines: readonly {
    readonly line: number;
    readonly event: Outcomes['rejectedEvents'][number];
  }[];
}

/**
 * The positions in the log of a file's events. Two numbers for each, since a file may have
 * millions.
 */
export class SentLines {
  readonly #byPartition = new Map<
    number,
    { readonly offsets: number[]; readonly lines: number[] }
  >();

  add({ line, partition, offset }: SentPlace): void {
    const known = this.#byPartition.get(partition) ?? { offsets: [], lines: [] };
    this.#byPartition.set(partition, known);
    known.offsets.push(offset);
    known.lines.push(line);
  }

  lineOf(partition: number, offset: number | null): number {
    const known = this.#byPartition.get(partition);
    return known?.lines[known.offsets.indexOf(offset ?? -1)] ?? 0;
  }

  /** Consecutive offsets as one range, in portions of one request. */
  portions(): Range[][] {
    const portions: Range[][] = [[]];
    let events = 0;
    for (const range of this.#ranges()) {
      const size = range.to - range.from;
      const last = portions.at(-1) ?? [];
      if (last.length < outcomeRangesMax && events + size <= outcomeEventsMax) {
        last.push(range);
        events += size;
      } else {
        portions.push([range]);
        events = size;
      }
    }
    return portions.filter((portion) => portion.length > 0);
  }

  *#ranges(): Generator<Range> {
    for (const [partition, { offsets }] of this.#byPartition) {
      let range: Range | undefined;
      for (const offset of Float64Array.from(offsets).sort()) {
        if (range?.to === offset && range.to - range.from < outcomeEventsMax) range.to += 1;
        else {
          if (range) yield range;
          range = { partition, from: offset, to: offset + 1 };
        }
      }
      if (range) yield range;
    }
  }
}

const pollMs = 200;
/** Timeout of waiting while rating makes no progress. */
const stillMs = 30_000;

/** Polls until every event of the portion is rated, or rating makes no progress. */
async function waitForOutcomes(
  ask: (ranges: readonly Range[]) => Promise<Outcomes | undefined>,
  ranges: readonly Range[],
): Promise<Outcomes | undefined> {
  let pendingBefore = Infinity;
  let movedAt = Date.now();
  for (;;) {
    const outcomes = await ask(ranges);
    if (!outcomes?.pending) return outcomes;
    if (outcomes.pending < pendingBefore) movedAt = Date.now();
    else if (Date.now() - movedAt > stillMs) return outcomes;
    pendingBefore = outcomes.pending;
    await wait(pollMs);
  }
}

/**
 * Waits until the events sent are rated, and counts their outcomes; undefined: the token may not
 * read them.
 */
export async function findOutcome(
  { apiUrl, token }: { readonly apiUrl: string; readonly token: string },
  sent: SentLines,
): Promise<FileOutcome | undefined> {
  const ask = async (ranges: readonly Range[]): Promise<Outcomes | undefined> => {
    const answer = await fetch(`${apiUrl}/v1/usage-events/outcomes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ranges }),
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as Outcomes;
    if (answer.status === 403) return undefined;
    const shown = `${answer.status}: ${text.slice(0, 500)}`;
    throw new Error(`The events were accepted; what became of them is not known: ${shown}`);
  };
  const total = { accepted: 0, rated: 0, duplicate: 0, rejected: 0, pending: 0 };
  const reasons = new Map<string, number>();
  const rejectedLines: { line: number; event: Outcomes['rejectedEvents'][number] }[] = [];
  for (const portion of sent.portions()) {
    const outcomes = await waitForOutcomes(ask, portion);
    if (outcomes === undefined) return undefined;
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += outcomes[name];
    for (const { code, events } of outcomes.reasons) {
      reasons.set(code, (reasons.get(code) ?? 0) + events);
    }
    for (const event of outcomes.rejectedEvents) {
      rejectedLines.push({ line: sent.lineOf(event.partition, event.offset), event });
    }
  }
  rejectedLines.sort((a, b) => a.line - b.line);
  return { ...total, reasons: [...reasons].sort((a, b) => b[1] - a[1]), rejectedLines };
}
