import type { Scope } from '../../../kernel/scope.js';
import { CorrectedSums } from '../../../queries/usage/corrections/corrected-sums.js';
import { presentSums } from '../../../queries/usage/corrections/correction.js';
import type {
  ChangeSink,
  RatedAgain,
} from '../../../queries/usage/corrections/rerating/rerate-request.js';
import { keptOf, requestsOf, rerateAll } from './compute-correction.js';
import { readCorrectable, requireRated, type EventCorrection } from './correct-event.js';

/** What changes come to. */
class Figures {
  readonly sums = new CorrectedSums();
  changed = 0;

  add({ event, outcome }: RatedAgain): void {
    this.changed += 1;
    this.sums.addBefore(event.charges);
    this.sums.addRated(outcome?.rated ?? null);
  }

  addAll({ sums, changed }: Figures): void {
    this.changed += changed;
    this.sums.addAll(sums);
  }
}

/** Adds up what a correction of an event would write: what `CorrectionWriter` writes. */
class PreviewSink implements ChangeSink {
  readonly #ownEventId: string;
  readonly #kept = new Figures();
  #pass = new Figures();
  #own: RatedAgain | null = null;
  #ownOfPass: RatedAgain | null = null;

  constructor(ownEventId: string) {
    this.#ownEventId = ownEventId;
  }

  add(change: RatedAgain): Promise<void> {
    if (change.event.id === this.#ownEventId) this.#ownOfPass = change;
    else this.#pass.add(change);
    return Promise.resolve();
  }

  place(): Promise<void> {
    return Promise.resolve();
  }

  discard(): Promise<void> {
    this.#pass = new Figures();
    this.#ownOfPass = null;
    return Promise.resolve();
  }

  keep(): Promise<void> {
    const own = this.#ownOfPass;
    // It goes from one account or service and comes to another.
    if (own) this.#own = this.#own ? { ...this.#own, outcome: own.outcome } : own;
    this.#kept.addAll(this.#pass);
    return this.discard();
  }

  get figures(): Figures {
    const all = new Figures();
    all.addAll(this.#kept);
    if (this.#own) all.add(this.#own);
    return all;
  }
}

/** What canceling or amending an event would come to; nothing is written or locked. 400, 404, 409. */
export async function previewCorrection(
  { db, tenantId }: Scope,
  { eventId, amended }: Pick<EventCorrection, 'eventId' | 'amended'>,
) {
  const sink = new PreviewSink(eventId);
  const reratings = await rerateAll(
    db.read,
    tenantId,
    async function* () {
      const event = await readCorrectable(db.read, tenantId, eventId);
      yield* requestsOf(event, amended?.prepared ?? null);
    },
    sink,
  );
  requireRated(reratings);
  const { sums, changed } = sink.figures;
  return {
    changed,
    rejected: keptOf(reratings),
    before: presentSums(sums.totals('before')),
    after: presentSums(sums.totals('after')),
  };
}
