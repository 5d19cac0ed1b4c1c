import type {
  ApprovalLook,
  ApprovalState,
  AskedApproval,
} from '../messages/definitions/approval.js';
import type {
  AskedListener,
  EmittedEvent,
  HeardEvent,
  ListenerLook,
} from '../messages/definitions/event.js';
import type { KeptUndos, TaskRow } from '../messages/definitions/task.js';
import type { TaskError } from './task-error.js';

/** What runs in a scope is canceled with it. */
export interface HostScope {
  run<Output>(work: () => Promise<Output>): Promise<Output>;
  cancel(): void;
}

/** A call of a run of a task, its expressions evaluated. */
export interface HostCall {
  readonly seq: number;
  readonly path: string;
  readonly call: string;
  readonly with: unknown;
}

/**
 * What the interpreter needs of where it runs: of a workflow of Temporal, or of a dry run. It has no
 * clock and no input or output of its own.
 */
export interface Host {
  /** Whether values are measured before they are written; left out: they are. */
  readonly isMeasured?: boolean;
  /** Whether what functions take apart counts; left out: it does. */
  readonly isPartingCounted?: boolean;
  /**
   * Whether what takes tasks back is kept in blocks, one after the other, that of a task that failed after its
   * call, too; left out: it is.
   */
  readonly isUndoInBlocks?: boolean;
  /** Whether a number that no double holds, which is a text, is one to an input schema; left out: it is. */
  readonly takesExactNumbers?: boolean;
  /** How much may be computed before others get a word. */
  readonly costAtOnce: number;
  /** Keeps how runs of tasks stand. */
  keep(rows: readonly TaskRow[]): Promise<void>;
  /** Whether rows are kept before a call, which is given none then. */
  readonly keepsRowsFirst?: boolean;
  /** Makes a call, and keeps how runs of tasks stand before it, whatever comes of it. */
  call(call: HostCall, rows: readonly TaskRow[]): Promise<unknown>;
  /** Keeps what takes tasks back; left out: all of it is carried on, and no more than can be. */
  readonly keepUndos?: ((kept: KeptUndos) => Promise<void>) | undefined;
  openApproval(asked: AskedApproval): Promise<void>;
  /** How the approval of a run of a task stands, or ends it. It ends one also while being canceled. */
  lookAtApproval(look: ApprovalLook): Promise<ApprovalState>;
  /** Whether an approval was decided that has not been looked at since. */
  isDecided(seq: number): boolean;
  /** Writes an event of the tenant, once for each run of a task. */
  emit(event: EmittedEvent): Promise<void>;
  openListener(asked: AskedListener, path: string): Promise<void>;
  /** What a run of a task has heard, or ends its listening. It ends it also while being canceled. */
  lookAtListener(look: ListenerLook): Promise<HeardEvent | null>;
  /** Whether there is an event that has not been looked at since. */
  isHeard(seq: number): boolean;
  /** What people are told of when something happened, in milliseconds. */
  now(): number;
  /** The time of the tenant, by which waits end, in milliseconds. */
  time(): number;
  /** Looks what time it is, where that has to be looked at. */
  refreshTime?(): Promise<void>;
  /** Whether the execution has to go on in another history. */
  isHistoryLong(): boolean;
  /** Waits until a time of the tenant, or until it is over before; whether it was. */
  wait(isOver: () => boolean, until: number, path: string): Promise<boolean>;
  openScope(): HostScope;
  /** Carries out branches that go on side by side. */
  sideBySide<T>(work: () => Promise<T>): Promise<T>;
  /** Shows people what a task does at this moment; without a text it has done it. */
  show(path: string, text?: string): void;
  isCancellation(error: unknown): boolean;
  /** Whether what runs here was canceled while its call was waited for. */
  isCanceled?(): boolean;
  /** What a call that has failed means to the definition. */
  faultOf(error: unknown, path: string): TaskError;
}
