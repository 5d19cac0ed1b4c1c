import { isFlowRun } from './flow-run.js';

/** The memo of a workflow that holds its signature: with it Temporal lists, continues and resets it. */
export const signatureMemo = 'signature';

/** The header by which a workflow hands its signature to its activities. */
export const signatureHeader = 'durabill-signature';

/** The type of failures of activities that were refused because of their workflow's signature. */
export const unsignedFailureType = 'Unauthenticated';

/** Whom a workflow works for. */
export interface SignedSubject {
  readonly tenantId: string;
  /** Null for workflows that work for the tenant itself, such as those that rate usage. */
  readonly actor: string | null;
  readonly executionId: string | null;
}

/** What a signature covers of the input of a workflow. */
export interface SignedInput extends SignedSubject {
  /** All that stays the same from the start of a workflow to its last history. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

const flowFields = ['executionId', 'tenantId', 'orgId', 'actor', 'requestId', 'input'];

/**
 * What stays the same of the inputs that are no flow's: a retry of usage goes on from page to page, a
 * delivery from attempt to attempt, and both give their next history another input.
 */
const fixedFields: Readonly<Record<string, readonly string[]>> = {
  rateUsage: ['tenantId', 'partition', 'firstOffset', 'endOffset'],
  retryUsage: ['tenantId', 'actor', 'filter'],
  archiveUsage: ['tenantId', 'month'],
  dropUsage: ['tenantId', 'tenants', 'month'],
  restoreUsage: ['tenantId', 'month'],
  moveTenant: ['tenantId', 'to', 'graceMs'],
  deliverWebhook: ['tenantId', 'webhookId', 'deliveryId', 'round'],
  scheduleBilling: ['tenantId', 'every'],
  scheduleUsageAudit: ['tenantId', 'every'],
};

/**
 * What the signature of a workflow of this type covers, of its input or of what its activities are
 * called with; undefined for what is no input of such a workflow.
 */
export function signedInput(type: string, input: unknown): SignedInput | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const fields = fixedFields[type] ?? (isFlowRun(input) ? flowFields : undefined);
  if (fields === undefined) return undefined;
  const given = input as Readonly<Record<string, unknown>>;
  const { tenantId, actor } = given;
  const executionId = fixedFields[type] === undefined ? given['executionId'] : null;
  if (typeof tenantId !== 'string') return undefined;
  return {
    tenantId,
    actor: fields.includes('actor') && typeof actor === 'string' ? actor : null,
    executionId: typeof executionId === 'string' ? executionId : null,
    fixed: Object.fromEntries(fields.map((name) => [name, given[name] ?? null])),
  };
}

/** The workflow that a scheduled one starts as its child, and as whom. */
export const scheduledChildren: Readonly<Record<string, { type: string; actor: string }>> = {
  scheduleBilling: { type: 'runBilling', actor: 'billing-schedule' },
  scheduleUsageAudit: { type: 'auditUsage', actor: 'audit-schedule' },
};

/** The children that a workflow may start, and as whom. */
export const allowedChildren: Readonly<Record<string, readonly { type: string; actor: string }[]>> =
  {
    ...Object.fromEntries(
      Object.entries(scheduledChildren).map(([type, child]) => [type, [child]]),
    ),
    // The clock of a sandbox starts what its schedules would.
    moveClock: Object.values(scheduledChildren),
  };

/**
 * The workflow's own input in what one of its activities is called with: the steps of flows and of
 * schedules have it as `run` and take nothing of whose work it is from elsewhere; the others are called
 * with it. Which of the two is decided by the type alone, so that no input can show the one that was
 * signed and have another carried out.
 */
export function inputOfCall(type: string, call: unknown): unknown {
  if (type in fixedFields && !(type in scheduledChildren)) return call;
  if (typeof call !== 'object' || call === null) return undefined;
  return (call as { readonly run?: unknown }).run;
}

/**
 * The id that a signature covers. Temporal adds the time to that of a workflow which a schedule starts,
 * and one signature serves all of them.
 */
export const signedWorkflowId = (type: string, workflowId: string): string =>
  type in scheduledChildren
    ? workflowId.replace(/-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/, '')
    : workflowId;

/** What the step is called with that signs the child of a scheduled workflow. */
export interface ChildToSign<Input = unknown> {
  /** The input of the workflow itself. */
  readonly run: Input;
  readonly child: {
    readonly type: string;
    readonly workflowId: string;
    readonly input: unknown;
  };
}
