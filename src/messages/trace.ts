import { defined } from '../kernel/defined.js';

/** The header of HTTP and of Temporal that names a span (W3C Trace Context). */
export const traceHeader = 'traceparent';

/** Whose work a span is; ids alone, never what the work is given. */
export interface TraceSubject {
  readonly tenantId?: string;
  readonly executionId?: string;
}

const textOf = (value: object, name: string): string | undefined => {
  const text = (value as Readonly<Record<string, unknown>>)[name];
  return typeof text === 'string' ? text : undefined;
};

/** The part of a workflow's or activity's input that names its tenant and execution. */
export function traceSubject([input]: readonly unknown[]): TraceSubject {
  if (typeof input !== 'object' || input === null) return {};
  const { run } = input as { readonly run?: unknown };
  const subject = typeof run === 'object' && run !== null ? run : input;
  const tenantId = textOf(subject, 'tenantId');
  const executionId = textOf(subject, 'executionId');
  return defined({ tenantId, executionId });
}

/** The id of the span of a workflow's run, which its steps can compute. */
export const spanIdOfRun = (runId: string): string => runId.replaceAll('-', '').slice(16);

/** The run of a workflow that has ended, as its sandbox reports it. */
export interface EndedRun {
  /** The `traceparent` that it was started with. */
  readonly parent: string;
  readonly subject: TraceSubject;
  /** The name of the error that it failed with. */
  readonly failure?: string;
}

/** The header for what a run with this one starts: in the same trace, below the run. */
export const traceparentOfRun = (parent: string, runId: string): string => {
  const [version = '', traceId = '', , flags = ''] = parent.split('-');
  return `${version}-${traceId}-${spanIdOfRun(runId)}-${flags}`;
};
