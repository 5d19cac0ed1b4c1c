import type { WorkerOptions } from '../../../src/worker/main.js';

/** Does something after each activity, when what it did is committed: such as failing. */
export const afterEachActivity = (
  act: () => void,
): NonNullable<WorkerOptions['activityInterceptors']> => [
  () => ({
    inbound: {
      async execute(input, next): Promise<unknown> {
        const result: unknown = await next(input);
        act();
        return result;
      },
    },
  }),
];
