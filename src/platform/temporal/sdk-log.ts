import type { LogEntry } from '@temporalio/worker';
import { defined } from '../../kernel/defined.js';
import type { Logger } from '../log.js';

/** What the workflows add to their lines when a flow has failed (`workflows/runtime/interceptors.ts`). */
interface FlowFault {
  readonly kind: string;
  readonly message: string;
}

const levels = {
  TRACE: 'trace',
  DEBUG: 'trace',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const;

const isFlowFault = (value: unknown): value is FlowFault =>
  typeof value === 'object' && value !== null && 'kind' in value && 'message' in value;

/** Failures that say what is wrong with a request, not with the instance. */
const isOfCaller = ({ kind }: FlowFault): boolean => kind !== 'internal' && kind !== 'timeout';

/**
 * Writes a line of Temporal's SDK to our log, with its errors; a flow refused because of its
 * request is no alarm.
 */
export function logFromSdk(
  log: Logger,
  { level, message, meta = {} }: Omit<LogEntry, 'timestampNanos'>,
): void {
  const { error, failure, ...rest } = meta as Record<string, unknown>;
  const line = { ...rest, ...defined({ err: error }) };
  if (!isFlowFault(failure)) return log[levels[level]](line, message);
  if (!isOfCaller(failure)) return log[levels[level]]({ ...line, code: failure.kind }, message);
  const { tenantId, executionId, requestId, workflowId, workflowType: workflow } = rest;
  log.info(
    {
      code: failure.kind,
      reason: failure.message,
      tenantId,
      executionId,
      requestId,
      workflow,
      workflowId,
    },
    'a flow was refused',
  );
}
