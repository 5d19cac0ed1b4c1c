import type { ProblemKind } from '../kernel/problem.js';

/** How an execution stands (spec/flows.md R27). */
export type ExecutionStatus =
  'running' | 'completed' | 'failed' | 'canceled' | 'terminated' | 'timed_out';

/**
 * What the workflow of a flow is given: who asks, and for what. JSON-safe: decimals are texts, which
 * `reviveInput` of the schemas turns back.
 */
export interface FlowRun<Input = unknown> {
  /** Id of the execution: chosen before the start, so that the caller knows it whatever happens. */
  readonly executionId: string;
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly actor: string;
  readonly requestId: string;
  readonly callerRequestId?: string | undefined;
  readonly input: Input;
}

/** What a flow is called with by its slug (spec/flows.md R2). */
export interface FlowInput {
  readonly start: Readonly<Record<string, unknown>>;
  /** Whether the input is only kept beside its record. */
  readonly isDraft: boolean;
  /** The draft that a create flow is called again to complete. */
  readonly draftId?: string;
}

/** Why a flow failed: stored with the execution, and answered to the caller. */
export interface FlowFailure {
  readonly kind: ProblemKind;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The type of failures that carry a `FlowFailure` in their details, between activity and caller. */
export const problemFailureType = 'Problem';

/** The type of failures of steps whose database is away: they pass. */
export const awayFailureType = 'Away';

/** The type of failures of steps that took too long: retried a few times, then answered. */
export const tooLongFailureType = 'TooLong';

/** The type of failures of calls that were made, while the rows that went along were not kept. */
export const unkeptFailureType = 'Unkept';

/** How a flow ended, for whoever waits in the same process. */
export type FlowOutcome =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly failure: FlowFailure };

export const isFlowRun = (input: unknown): input is FlowRun =>
  typeof input === 'object' && input !== null && 'executionId' in input && 'tenantId' in input;
