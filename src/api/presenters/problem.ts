import { randomUUID } from 'node:crypto';
import type { Problem, ProblemKind } from '../../kernel/problem.js';
import type { ErrorFamily } from '../../schemas/http/operation.js';
import { problemCode } from '../../schemas/http/problem.js';

const labels: Readonly<Record<ProblemKind, string>> = {
  validation: 'Validation Error',
  unauthorized: 'Unauthorized',
  forbidden: 'Forbidden',
  notFound: 'Not Found',
  methodNotAllowed: 'Method Not Allowed',
  conflict: 'Conflict',
  limitReached: 'Conflict',
  tooLarge: 'Payload Too Large',
  rateLimited: 'Too Many Requests',
  headersTooLarge: 'Request Header Fields Too Large',
  requestTimeout: 'Request Timeout',
  internal: 'Internal Server Error',
  badGateway: 'Bad Gateway',
  unavailable: 'Service Unavailable',
  overloaded: 'Service Unavailable',
  timeout: 'Gateway Timeout',
};

/** Where waiting helps: a part that does not answer needs longer than a crowd. */
export const retryAfterSeconds: Partial<Record<ProblemKind, string>> = {
  unavailable: '5',
  overloaded: '1',
};

type Renderer = (failure: Problem, path: string) => object;

/** spec/resources.md R11. */
const renderBilling: Renderer = (failure, path) => ({
  status: failure.status,
  error: labels[failure.kind],
  message: failure.message,
  path: `uri=${path}`,
});

/** The same, with the execution that failed (spec/flows.md R8). */
const renderFlow: Renderer = (failure, path) => {
  const { flowExecutionId } = failure.details;
  const id = flowExecutionId === undefined ? {} : { flowExecutionId };
  return { ...renderBilling(failure, path), ...id };
};

/** Of the first property that is not known: those that are. */
function hintOf({ errors }: Problem['details']): string {
  const faults = (errors ?? []) as readonly { readonly known?: readonly string[] }[];
  const known = faults.find((fault) => fault.known !== undefined)?.known;
  if (known === undefined) return '';
  return known.length === 0 ? '. There are none here.' : `. Known are: ${known.join(', ')}.`;
}

/** The error body of family C (spec/platform.md R14). */
export const recordsError = (failure: Problem) => {
  // What a caller acts on has a code of its own, where that of its kind says too little.
  const { problemCode: own, ...details } = failure.details;
  const code = typeof own === 'string' ? own : problemCode(failure.kind);
  const message = failure.message + hintOf(details);
  return { code, message, details, timestamp: new Date().toISOString() };
};
const renderRecords: Renderer = (failure) => ({ error: recordsError(failure) });

/** The error body of ingestion (spec/gateway.md R5). */
const renderIngestion: Renderer = (failure) => ({
  is_gateway_error: false,
  status_code: failure.status,
  error: { message: failure.message },
  extra_fields: {},
});

/** The gateway error body (spec/gateway.md R16). */
const renderGateway: Renderer = (failure) => {
  const eventId = randomUUID();
  const code = failure.details['code'] ?? problemCode(failure.kind).toLowerCase();
  const param = failure.details['field'] ?? null;
  return {
    event_id: eventId,
    type: 'error',
    is_gateway_error: true,
    status_code: failure.status,
    error: { type: labels[failure.kind], code, message: failure.message, param, event_id: eventId },
    extra_fields: { provider: null, model_requested: null, request_type: null },
  };
};

const renderers: Readonly<Record<ErrorFamily, Renderer>> = {
  billing: renderBilling,
  flows: renderFlow,
  records: renderRecords,
  ingestion: renderIngestion,
  gateway: renderGateway,
};

/** The error body of a family. */
export function presentProblem(family: ErrorFamily, failure: Problem, path: string): object {
  return renderers[family](failure, path);
}

/** The family of a path that belongs to no operation. */
export function familyOfPath(path: string): ErrorFamily {
  if (path.startsWith('/v1/ingest/')) return 'ingestion';
  if (path.startsWith('/v1/')) return 'records';
  if (path.startsWith('/api/v1/external/run/')) return 'flows';
  return path.startsWith('/api/oauth/') ? 'gateway' : 'billing';
}
