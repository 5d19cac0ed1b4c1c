/** What the usage workflows are given and give: JSON-safe, known to workflows, worker and API. */
import type { FlowFailure } from './flow-run.js';

/** A stretch of a partition: the offsets from `firstOffset` up to `endOffset`. */
export interface UsageRange {
  readonly tenantId: string;
  readonly partition: number;
  readonly firstOffset: number;
  readonly endOffset: number;
}

/** How many events came to which end. */
export interface UsageRangeResult {
  readonly rated: number;
  readonly duplicate: number;
  readonly rejected: number;
  /** Where the range ended early: what is left is rated as another one. */
  readonly nextOffset?: number;
}

/** Which rejected events to rate again; without any filter all of them. */
export interface RetryFilter {
  readonly id?: string;
  readonly externalTransactionId?: string;
  readonly code?: string;
  readonly accountId?: string;
  readonly serviceId?: string;
  /** Instants of the events, `to` exclusive. */
  readonly from?: string;
  readonly to?: string;
}

export interface UsageRetry {
  readonly tenantId: string;
  readonly actor: string;
  readonly filter: RetryFilter;
}

export interface UsageRetryResult {
  readonly retried: number;
  readonly rated: number;
  readonly rejected: number;
  /** Of the run; left out by one that an earlier version began. */
  readonly executionId?: string;
}

/** One page of a retry: the events after an id, up to another. */
export interface RetryPage extends UsageRetry {
  readonly afterId: string | null;
  /** Events that arrived later are left to the next retry. */
  readonly until: string;
  /** The first run of the workflow; left out by one that an earlier version began. */
  readonly executionId?: string;
}

/** How a retry ended that has not come to its last page. */
export interface RetryEnd extends UsageRetry {
  readonly executionId: string;
  /** When it began, as an instant. */
  readonly startedAt: string;
  readonly status: 'canceled' | 'failed';
  readonly failure?: FlowFailure;
}

export interface RetryPageResult {
  /** Of the run so far. */
  readonly counts: UsageRetryResult;
  /** Where the next page begins; null after the last. */
  readonly lastId: string | null;
}

/** Which rejected events are dismissed, as many at most, and why. */
export interface DismissalInput {
  readonly filter: RetryFilter;
  readonly reason: string;
  readonly max: number;
  /** Events that were accepted from then on are left alone; without it, from its begin on. */
  readonly until?: string;
}

/** One page of a dismissal: the newest events before an id. */
export interface DismissalPage extends Omit<DismissalInput, 'max'> {
  readonly size: number;
  readonly beforeId: string | null;
  readonly until: string;
}

export interface DismissalPageResult {
  readonly dismissed: number;
  /** Those that it has looked at; pages of an earlier version, which have none, took as many as were asked for. */
  readonly taken?: number;
  /** Where the next page ends; null after the last. */
  readonly lastId: string | null;
}

export interface DismissalResult {
  readonly dismissed: number;
  /** Whether none of the filter was left. */
  readonly isComplete: boolean;
}

/** What the workflows of corrections are given. */
export interface CancelEventInput {
  readonly eventId: string;
  readonly reason: string;
  /** Whether only the figures are wanted. */
  readonly dryRun?: boolean;
}

export interface AmendEventInput extends CancelEventInput {
  /** The content that the event gets, as JSON text. */
  readonly message: string;
}

export interface RerateInput {
  /** Instants in UTC, `[from, to)`. */
  readonly from: string;
  readonly to: string;
  readonly accountId: string | null;
  readonly contractId: string | null;
  readonly serviceId: string | null;
  readonly reason: string;
  readonly dryRun: boolean;
}

/** What is rated again, and with what; times are instants. */
export interface RepriceInput {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** Null: all. */
  readonly accountIds: readonly string[] | null;
  readonly serviceIds: readonly string[] | null;
  /** As JSON, whose decimals may be texts: see `reviveInput`. */
  readonly changes: unknown;
  readonly guard: RepricingLimits;
}

/** Limits in percent, as decimal text; null: none. */
export interface RepricingLimits {
  readonly accountChangeMax: string | null;
  readonly totalDecreaseMax: string | null;
}

/** Which what-if is put in force, from which day on, and whether in spite of its guard. */
export interface PromoteInput {
  readonly repricingId: string;
  readonly fromDate: string;
  readonly force: boolean;
}

/** How far a what-if is. */
export interface RepricingProgress {
  readonly events: number;
  readonly total: number;
  readonly isDone: boolean;
}
