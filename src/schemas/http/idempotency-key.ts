import { isReadOnly, type Operation } from './operation.js';

/** The form of an `Idempotency-Key`. */
export const idempotencyKeyForm = '[!-~]{1,255}';

/**
 * What makes a request with an `Idempotency-Key` idempotent: the workflow that it starts, or its
 * transaction. Undefined: the operation takes no key.
 */
export function idempotencyOf(declared: Operation): 'flow' | 'transaction' | undefined {
  const { method, family, idempotency } = declared;
  if (idempotency !== undefined) return idempotency === 'flow' ? 'flow' : undefined;
  // Usage events are deduplicated by their externalTransactionId.
  const isAlone = family === 'ingestion' || family === 'gateway';
  return method === 'POST' && !isReadOnly(declared) && !isAlone ? 'transaction' : undefined;
}

/** Whether an operation takes an `Idempotency-Key`. */
export const takesIdempotencyKey = (declared: Operation): boolean =>
  idempotencyOf(declared) !== undefined;
