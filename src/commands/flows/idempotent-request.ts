/** `Idempotency-Key` of a POST that starts no workflow; `idempotent-start.ts` is for those that do. */
import { createHash } from 'node:crypto';
import { canonicalJson, jsonSafe } from '../../kernel/text/json.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { IdempotencyKey, type KeptAnswer } from '../../models/flows/idempotency-key.js';
import { otherRequest } from './idempotent-start.js';

/** A request under an `Idempotency-Key`: what makes it the same request when it is sent again. */
export interface RepeatableRequest {
  readonly key: string;
  readonly operation: string;
  readonly input: object;
}

/**
 * Characters of an answer that is kept: many times what a body of the usual 1 MiB can be answered
 * with. Keys are kept for ever, and so are their answers.
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
 * Does a request that starts no workflow once (docs/decisions/0272): its key is taken, its work done and
 * its answer kept in one transaction. Sent again it gets the kept answer; at the same time, it waits for
 * the first (as long as for a lock). What fails has written nothing and frees the key. 409: the key was
 * used for another request.
 */
export async function answerOnce(
  scope: Scope,
  { key, operation, input }: RepeatableRequest,
  work: (scope: Scope) => Promise<KeptAnswer>,
): Promise<KeptAnswer> {
  const { db, tenantId } = scope;
  // Of what was sent: the work puts ids in the place of names.
  const requestHash = createHash('sha256')
    .update(canonicalJson({ operation, input: jsonSafe(input) }))
    .digest('hex');
  return db.transaction(async (trx) => {
    if (!(await IdempotencyKey.take(trx, tenantId, key, requestHash))) {
      const holder = await IdempotencyKey.findHolder(trx, tenantId, key);
      const { status, answer: text } = holder;
      if (holder.requestHash !== requestHash || status === null) throw otherRequest();
      return { status, text };
    }
    const answer = await work({
      ...scope,
      // Savepoints: a part that fails alone must not take the others with it.
      db: { tenantId, read: trx, transaction: (part) => trx.transaction(part) },
    });
    checkLength(answer);
    await IdempotencyKey.keep(trx, tenantId, key, answer);
    return answer;
  });
}
