import { newId } from '../../kernel/id.js';
import { Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { RecordType } from '../../models/records/record-type.js';
import { requireRecordType } from '../../queries/records/record-type.js';
import type { StoredRecord } from '../../schemas/records/record.js';
import { databaseProblem } from '../rules/database-problem.js';
import { holdRecordType } from './lock-record-type.js';
import { storeRecords, type NewObject } from './check-and-store-records.js';

/** The outcome of each object of a bulk request, in order. */
export interface BulkOutcome {
  readonly outcomes: readonly (StoredRecord | Problem)[];
}

/** Bulk requests of at least this size are written as two halves in parallel, in half the time. */
const halvedMin = 2_000;

/**
 * Divides objects into one transaction each; a type with unique fields needs a single one, since
 * unique values are compared within it.
 */
function partsOf(type: RecordType, objects: readonly NewObject[]): (readonly NewObject[])[] {
  if (objects.length < halvedMin || type.hasUniqueFields()) return [objects];
  const half = Math.ceil(objects.length / 2);
  return [objects.slice(0, half), objects.slice(half)];
}

/**
 * The outcome of each object of a part; all fail alike where its transaction failed. Throws errors
 * that no problem stands for.
 */
function outcomesOf(
  part: readonly NewObject[],
  stored: PromiseSettledResult<(StoredRecord | Problem)[]>,
): (StoredRecord | Problem)[] {
  if (stored.status === 'fulfilled') return stored.value;
  const reason: unknown = stored.reason;
  const fault = reason instanceof Problem ? reason : databaseProblem(reason);
  if (!fault) throw reason;
  return part.map(() => fault);
}

/**
 * Creates many records independently of each other. An invalid record, or one with a unique value
 * that is taken (also by an earlier object of the request), is reported at its position. So are the
 * records of a failed transaction, if another one succeeded (docs/decisions/0162). 404: there is no
 * such type.
 */
export async function createRecords(
  scope: Scope,
  typeKey: string,
  objects: readonly unknown[],
): Promise<BulkOutcome> {
  const given = await requireRecordType(scope.db.read, scope.tenantId, typeKey);
  const now = scope.now();
  const parts = partsOf(
    given,
    objects.map((object) => ({ id: newId(), object })),
  );
  // Avoids a deadlock of two requests that insert the same unique values in different order.
  const alone = objects.length > 1 && given.hasUniqueFields();
  const stored = await Promise.allSettled(
    parts.map((part) =>
      scope.db.transaction(async (trx) => {
        const type = await holdRecordType(trx, scope, typeKey, { alone });
        return storeRecords(trx, scope, type, part, now);
      }),
    ),
  );
  const [first] = stored;
  if (first?.status === 'rejected' && stored.every(({ status }) => status === 'rejected')) {
    throw first.reason;
  }
  return {
    outcomes: parts.flatMap((part, index) =>
      outcomesOf(part, stored[index] as (typeof stored)[number]),
    ),
  };
}
