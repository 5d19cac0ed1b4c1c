/** What the workflow that audits usage is given and gives: JSON-safe. */

/** What an audit is asked for; the days are inclusive, and over. */
export interface UsageAuditInput {
  readonly periodStart: string;
  readonly periodEnd: string;
  /** How many of a hundred events are computed again. */
  readonly samplePercent: number;
}

/** Where a recorded value is not what it comes to; values are exact decimal text, or null. */
export interface UsageDifference {
  readonly kind: 'charge' | 'counter' | 'total' | 'list' | 'period' | 'journal' | 'alert';
  /** Which value differs: `amount`, `volume of calls`, `value`, … */
  readonly field: string;
  readonly recorded: string | null;
  readonly computed: string | null;
  /** Of a charge. */
  readonly ratedTransactionId: string | null;
  readonly externalTransactionId: string | null;
  /** The billed account; of a counter, its account or contract line; of a total or a list, its account or service; of a period that was adjusted and of the journal, the account; of an alert, the account or wallet that it counts, or the alert. */
  readonly ownerId: string;
  /** Of a counter. */
  readonly counterId: string | null;
}

/** The last charge of a page. */
export interface AuditPlace {
  readonly date: string;
  readonly id: string;
}

/** One page of an audit. */
export interface UsageAuditPage {
  /** Null when there are no more. */
  readonly next: AuditPlace | null;
  readonly events: number;
  /**
   * Events of them that cannot be computed again, because retention has removed their message; pages
   * of the version before have none.
   */
  readonly unchecked?: number;
  readonly charges: number;
  readonly differences: readonly UsageDifference[];
}

/** What an audit found of counters and totals. */
export interface CounterAudit {
  readonly counters: number;
  readonly differenceCount: number;
  readonly differences: readonly UsageDifference[];
}

/** What an audit has come to. */
export interface UsageAuditResult {
  readonly events: number;
  /** Events that could not be computed again. */
  readonly unchecked: number;
  readonly charges: number;
  readonly counters: number;
  readonly differenceCount: number;
  readonly differences: readonly UsageDifference[];
}

/** The most differences that the output of an audit lists; all are counted. */
export const differencesMax = 500;
