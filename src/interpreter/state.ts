import type { OnTimeout } from '../messages/definitions/approval.js';

/** Where a task, or a list of tasks, stands. A run that takes over from another is given it. */
export interface Frame {
  /** The number of the run of the task, once it has begun. */
  seq?: number;
  startedAt?: string;
  /** Of a list: which task comes next; of a loop: which element; of `try`: which attempt. */
  at?: number;
  /** What the next task is given, wrapped: null is a value. */
  value?: { readonly of: unknown };
  /** The elements of a loop. */
  items?: readonly unknown[];
  /** Until when is waited, in milliseconds. */
  until?: number | undefined;
  /** Of an approval: until when is waited for it, and what comes then. */
  approval?: { readonly until: number; readonly onTimeout: OnTimeout };
  /** Of a task that listens: until when. */
  listening?: { readonly until: number };
  /** The frame of what runs inside. */
  child?: Frame | undefined;
  /** Of a fork: that of each branch. */
  branches?: Frame[];
  /** Of a branch: what it gave. */
  done?: { readonly of: unknown };
  /** Of `try`: how often its tasks were begun. */
  tries?: number;
  /** Of `try`: what was caught, while it is handled. */
  caught?: unknown;
}

/** How often the tasks of a `try` were done; once where they are no such. */
export const attemptsIn = ({ tries = 1 }: Frame): number => tries;

/** What takes back a task that was done. */
export interface Undo {
  readonly seq: number;
  readonly path: string;
  readonly call: string;
  readonly with: unknown;
  /** With what it would be called could not be said. */
  readonly isLost?: boolean;
}

/** The state of an execution, carried from history to history. */
export interface DefinitionState {
  seq: number;
  context: unknown;
  cost: number;
  readonly startedMs: number;
  readonly secretMark: string;
  readonly undo: Undo[];
  /** Characters of what its calls are given. */
  undoLength?: number;
  /** Runs of tasks whose events need not be kept any longer. */
  heard?: number[];
  readonly root: Frame;
}
