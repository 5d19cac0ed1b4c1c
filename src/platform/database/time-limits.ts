/**
 * What a connection is used for: a request that somebody waits for, a step of a flow or the work of
 * the platform itself, or a batch that does the work of thousands of requests (rating, billing,
 * audits).
 */
export type WorkKind = 'request' | 'step' | 'batch';

/** Timeouts of PostgreSQL for our transactions, in milliseconds. */
export interface TimeLimits {
  /** A statement outside of transactions. */
  readonly readMs: number;
  /** A statement in a transaction. */
  readonly writeMs: number;
  /** Waiting for one lock. */
  readonly lockMs: number;
  /** An idle transaction: its process hangs, or has lost it. */
  readonly idleMs: number;
  /** A transaction as a whole, where PostgreSQL is 17 or newer. */
  readonly transactionMs: number;
}

const minute = 60_000;

/** docs/decisions/0175-time-limits-in-postgresql.md has the reasons. */
export const timeLimits: Readonly<Record<WorkKind, TimeLimits>> = {
  request: {
    readMs: 5_000,
    writeMs: 30_000,
    lockMs: 20_000,
    idleMs: 30_000,
    transactionMs: 2 * minute,
  },
  step: {
    readMs: 30_000,
    writeMs: 30_000,
    lockMs: 20_000,
    idleMs: 30_000,
    transactionMs: 2 * minute,
  },
  batch: {
    readMs: 10 * minute,
    writeMs: 10 * minute,
    lockMs: 5 * minute,
    idleMs: 5 * minute,
    transactionMs: 30 * minute,
  },
};
