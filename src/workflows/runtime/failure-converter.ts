import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Puts messages and stacks of failures into payloads, which the codec seals: they may name what a
 * record holds. The name of the export is what Temporal's SDK looks for.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
