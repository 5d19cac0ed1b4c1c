import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { IdempotencyKey, type KeyedRequest } from '../../models/flows/idempotency-key.js';

/** 409: a key was used for another request than this one. */
export const otherRequest = (): Problem =>
  problem.conflict('This Idempotency-Key was used for another request.', {
    field: 'Idempotency-Key',
  });

/**
 * Claims an `Idempotency-Key` for a request that a workflow carries out (spec/flows.md R33), or
 * returns the request that claimed it before; for requests without a workflow see
 * `idempotent-request.ts`. 409: the key was used for another request.
 */
export async function claimIdempotencyKey(
  scope: Scope,
  request: KeyedRequest,
): Promise<Pick<KeyedRequest, 'executionId' | 'workflowId'>> {
  const { requestHash, executionId, workflowId } = await IdempotencyKey.claim(
    scope.db.read,
    scope.tenantId,
    request,
  );
  if (requestHash !== request.requestHash || executionId === null || workflowId === null) {
    throw otherRequest();
  }
  return { executionId, workflowId };
}
