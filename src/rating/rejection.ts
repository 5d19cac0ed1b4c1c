import type { Rejected, RejectionCode } from './types.js';

/** Thrown inside the pipeline, turned into a `Rejected` value at its edge: callers never catch. */
export class Rejection extends Error {
  readonly code: RejectionCode;

  constructor(code: RejectionCode, message: string) {
    // Nobody sees where it was thrown, and to find out costs more than to rate an event.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
  }
}

export function rejected(code: RejectionCode, message: string): Rejected {
  return { ok: false, code, message };
}

/** Runs a part of the pipeline; a `Rejection` becomes its value, any other error is a fault of ours. */
export function orRejected<T>(run: () => T): T | Rejected {
  try {
    return run();
  } catch (error) {
    if (error instanceof Rejection) return rejected(error.code, error.message);
    throw error;
  }
}
