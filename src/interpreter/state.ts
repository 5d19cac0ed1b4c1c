import type { OnTimeout } from '../messages/definitions/approval.js';
import type { Undo } from '../messages/definitions/task.js';

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

/** Which tasks were taken back so far, the newest first, as far as they are told. */
export interface Undone {
  readonly names: string[];
  /** Of the names, as JSON. */
  bytes: number;
  /** How many more there are, and how many of these could not be taken back. */
  more: number;
  moreFailed: number;
}

/** The state of an execution, carried from history to history. */
export interface DefinitionState {
  seq: number;
  context: unknown;
  cost: number;
  readonly startedMs: number;
  readonly secretMark: string;
  readonly undo: Undo[];
  /** How many blocks of older ones are kept outside of the state. */
  undoBlocks?: number;
  /** Where none are: characters of what the calls of `undo` are given. */
  undoLength?: number;
  /** What was taken back before this history began. */
  undone?: Undone;
  /** Runs of tasks whose events need not be kept any longer. */
  heard?: number[];
  readonly root: Frame;
}
