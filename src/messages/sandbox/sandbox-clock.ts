import type { SchedulePeriod } from '../../kernel/time/schedule-calendar.js';

/** Where the time of a sandbox is moved to, as an ISO instant. */
export interface ClockMoveInput {
  readonly to: string;
}

/** How the clock stands when a move begins. */
export interface ClockMoveStart {
  readonly from: string;
  /** What fell due until then has been done. */
  readonly doneUntil: string;
}

/** The next part of a move: what falls due behind `after`, until `to`. */
export interface ClockStep {
  readonly after: string;
  readonly to: string;
  /** The tenant's own workflows have been waited for at `after`. */
  readonly isAwaited?: boolean;
}

/** What executions of a sandbox's own workflows are told when its time goes on: milliseconds. */
export const clockMovedSignal = 'clockMoved';

/** Until when an execution of a sandbox only waits; undefined: it asks what time it is. Milliseconds. */
export interface ClockLook {
  readonly until?: number | undefined;
}

/** The jobs that schedules start. */
export const scheduledJobs = ['billing', 'audit'] as const;
export type ScheduledJob = (typeof scheduledJobs)[number];

/** The id of a tenant's schedule in Temporal. */
export const scheduleIdOf = (job: ScheduledJob, tenantId: string): string => `${job}/${tenantId}`;

/** The member of the memo of what a schedule starts that holds its hour: a sandbox is started by it. */
export const scheduleHourMemo = 'hour';

/** A scheduled job that is due, for a period that has ended. */
export interface DueJob extends SchedulePeriod {
  readonly job: ScheduledJob;
}

/** What was done on the way of a move. */
export interface DoneWork {
  /** The time of the tenant when it was done. */
  readonly at: string;
  readonly kind: string;
  /** How many of them. */
  readonly count: number;
  /** Of a workflow: its execution, and how it ended. */
  readonly executionId: string | null;
  readonly status: 'completed' | 'failed';
}

export interface ClockStepResult {
  /** How far the time has come. */
  readonly at: string;
  /** What is to be done before it goes on. */
  readonly jobs: readonly DueJob[];
  readonly done: readonly DoneWork[];
  /** Workflow ids of the tenant's own executions whose wait is over. */
  readonly woken?: readonly string[];
  /** Whether the tenant's own workflows are at work, which the time waits for. */
  readonly isBusy?: boolean;
  /** Whether nothing is left to be done until the end of the move. */
  readonly isThere: boolean;
}

/** What a move came to. */
export interface ClockMoveEnd extends ClockMoveStart {
  readonly to: string;
  readonly done: readonly DoneWork[];
  readonly doneCount: number;
}

/** What the output of a move lists of what was done; all is counted. */
export const doneMax = 1_000;

/** The output of a move. */
export interface MovedClock {
  readonly now: string;
  readonly sandbox: boolean;
  readonly movedFrom: string;
  readonly done: DoneWork[];
  readonly doneCount: number;
  readonly executionId: string;
}
