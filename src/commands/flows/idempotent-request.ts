/** `Idempotency-Key` of a POST that starts no workflow; `idempotent-start.ts` is for those that do. */
import { canonicalDigest, jsonSafeInPortions } from '../../kernel/text/json-write-portions.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { IdempotencyKey, type KeptAnswer } from '../../models/flows/idempotency-key.js';
import { otherRequest } from './idempotent-start.js';

/** A request under an `Idempotency-Key`, with the values that identify a repetition of it. */
export interface RepeatableRequest {
  readonly key: string;
  readonly operation: string;
  readonly input: object;
}

/**
 * Maximum characters of a stored answer: many times the longest answer to a body of the usual 1
 * MiB. Keys and their answers are kept for ever.
 */
const answerLengthMax = 8 * 1024 * 1024;

function checkLength({ text }: KeptAnswer): void {
  const length = text?.length ?? 0;
  if (length <= answerLengthMax) return;
  throw problem.validation(
    `Nothing was written: the answer has ${length} characters, and of an answer under an ` +
      `Idempotency-Key at most ${answerLengthMax} are kept. Ask for less at once.`,
    { field: 'Idempotency-Key', value: length },
  );
}

/**
 * Executes a request without a workflow once (docs/decisions/0272): its idempotency key, its writes
 * and its answer are committed in one transaction. A repetition gets the stored answer; one that
 * arrives meanwhile waits for the first, up to the lock timeout. A failed request has written
 * nothing and leaves the key free. 409: the key was used for another request.
 */
export async function answerOnce(
  scope: Scope,
  { key, operation, input }: RepeatableRequest,
  work: (scope: Scope) => Promise<KeptAnswer>,
): Promise<KeptAnswer> {
  const { db, tenantId } = scope;
  // The hash of the body as it was sent: the handler replaces natural keys by ids.
  const requestHash = await canonicalDigest({
    operation,
    input: await jsonSafeInPortions(input),
  });
  return db.transaction(async (trx) => {
    if (!(await IdempotencyKey.take(trx, tenantId, key, requestHash))) {
      const holder = await IdempotencyKey.findHolder(trx, tenantId, key);
      const { status, answer: text } = holder;
      if (holder.requestHash !== requestHash || status === null) throw otherRequest();
      return { status, text };
    }
    const answer = await work({
      ...scope,
      // Nested transactions are savepoints: a part that fails alone must not abort the whole.
      db: { tenantId, read: trx, transaction: (part) => trx.transaction(part) },
    });
    checkLength(answer);
    await IdempotencyKey.keep(trx, tenantId, key, answer);
    return answer;
  });
}
