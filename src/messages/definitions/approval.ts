import type { DurationSpec } from './definition.js';

export type Decision = 'approve' | 'reject';

/** A decision of who asks for it, with the roles that they have at this moment. */
export interface AskedDecision {
  readonly approvalId: string;
  readonly decision: Decision;
  readonly reason: string | null;
  readonly roles: readonly string[];
}

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'canceled';
export type OnTimeout = 'reject' | 'approve' | 'fail';

/** What a task says of the approval that it asks for, its expressions evaluated. */
export interface ApprovalSpec {
  readonly title: string;
  readonly details?: unknown;
  readonly roles?: readonly string[];
  readonly quorum?: number;
  readonly timeout: DurationSpec;
  readonly onTimeout: OnTimeout;
  readonly notStarter?: boolean;
}

/** What people read of an approval, in characters (spec/beyond.md R341). */
export const approvalLimits = { title: 300, details: 50_000 } as const;

/** An approval that a task asks for. */
export interface AskedApproval {
  /** The run of the task. */
  readonly seq: number;
  readonly path: string;
  readonly title: string;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly roles: readonly string[] | null;
  readonly quorum: number;
  readonly notStarter: boolean;
  readonly onTimeout: OnTimeout;
  readonly dueAt: string;
}

/** Why the task of an approval looks at it: to see what was decided, or to end it. */
export interface ApprovalLook {
  readonly seq: number;
  readonly as: 'look' | 'expire' | 'cancel';
}

/** How an approval stands. */
export interface ApprovalState {
  readonly approvalId: string;
  readonly status: ApprovalStatus;
  readonly decisions: readonly {
    readonly decision: Decision;
    readonly reason: string | null;
    readonly decidedBy: string;
    readonly decidedAt: string;
  }[];
}

/** The workflow that waits for an approval, and which run of a task of it does. */
export interface ApprovalWaiter {
  readonly workflowId: string;
  readonly seq: number;
}

/** The signal that tells an execution that the approval of a run of a task was decided. */
export const decidedSignal = 'approvalDecided';
