import type { Decimal } from '../../../../kernel/numbers/money.js';
import type { ChargePlace } from '../../../../models/usage/corrections/charge-place.js';
import type { MeteredCounter } from '../../../../models/usage/corrections/metered-counter.js';
import type { ChargedFacts, Prepared, Rated } from '../../../../rating/index.js';
import type { CountedChange } from '../../recorded-moves.js';
import type { CorrectedSums } from '../corrected-sums.js';
import type { MeterOwner, PlacedEvent } from '../meter-members.js';
import type { PrepareText } from './quick-page.js';
import type { RecordedEvent } from '../recorded-event.js';

/** What becomes of an event: it goes, or is priced by other facts; null: it can no longer be rated. */
export type Fate =
  | { readonly kind: 'removed' }
  | { readonly kind: 'anew'; readonly prepared: Prepared }
  | { readonly kind: 'kept'; readonly code: string; readonly message: string };

/** An event with the charges that it gets; null: none. */
export interface RatedAgain {
  readonly event: RecordedEvent;
  readonly isTarget: boolean;
  readonly outcome: { readonly prepared: ChargedFacts; readonly rated: Rated } | null;
}

/** Why an event keeps its charges: it can no longer be rated. */
export interface KeptReason {
  readonly code: string;
  readonly message: string;
}

/** What takes the changes, one after another in the order of the log: they are never held all at once. */
export interface ChangeSink {
  add(change: RatedAgain): Promise<void>;
  /** Takes charges that stay as they are while their counters have moved. */
  place(places: readonly ChargePlace[]): Promise<void>;
  /** What a pass has given is void: it begins anew. */
  discard(): Promise<void>;
  /** What a pass has given holds. */
  keep(): Promise<void>;
}

/** What is rated again for one account and service. */
export interface RerateRequest {
  readonly owner: MeterOwner;
  /** The events that something becomes of, in the order of the log. */
  readonly targets: readonly PlacedEvent[];
  /** What becomes of those of them on a page. */
  readonly fatesOf: (events: readonly RecordedEvent[]) => Promise<ReadonlyMap<string, Fate>>;
  /** What prices targets now whose charges are compared as texts first; left out: none are. */
  readonly openPrepare?: () => Promise<PrepareText>;
  /** Whether all charges of a target are made again, whatever they come to. */
  readonly isForced: boolean;
  /** Whether the targets come from another account or service: their charges count there. */
  readonly isMovedIn?: boolean;
}

/** What was rated again, without the changes: the sink has them. */
export interface Rerated {
  /** How many events have other charges. */
  readonly changed: number;
  /** How many events keep their charges, by code. */
  readonly kept: ReadonlyMap<string, number>;
  /** Of a target that could not be rated, why; null: there is none. */
  readonly refused: KeptReason | null;
  /** How many targets something became of, and what they came to. */
  readonly targets: number;
  readonly sums: CorrectedSums;
}

/** Counters as they are afterwards, by their ids. */
export type MovedCounters = ReadonlyMap<
  string,
  {
    readonly counter: MeteredCounter;
    readonly value: Decimal;
    /** What a UNIQUE one has counted that it had not, and the other way round. */
    readonly counted: CountedChange;
  }
>;

/** Formulas may have used more of the event than its charges keep. */
export const messageGone = {
  code: 'MESSAGE_GONE',
  message: 'The message of the event was removed, and its pricing logic needs it.',
};
/** An event is rated again for the account that it has. */
export const elsewhere = {
  kind: 'kept',
  code: 'ACCOUNT_NOT_FOUND',
  message: 'Another account has the external id that the event names.',
} as const;
