import type { Static } from 'typebox';
import { Problem } from '../../kernel/problem.js';
import type { BulkOutcome } from '../../commands/records/record.js';
import type { RecordBulkResult } from '../../schemas/records/record.js';
import { recordsError } from './problem.js';

/** Each object's record, or the error that a request of its own would have been answered with. */
export function presentBulk({ outcomes }: BulkOutcome): Static<typeof RecordBulkResult> {
  const failed = outcomes.filter((outcome) => outcome instanceof Problem).length;
  return {
    success: failed === 0,
    totalProcessed: outcomes.length,
    created: outcomes.length - failed,
    failed,
    data: outcomes.map((outcome, index) =>
      outcome instanceof Problem ? { index, error: recordsError(outcome) } : outcome,
    ),
  };
}
