import type { WorkerOptions } from '../../../src/worker/main.js';

/** Does something after each activity, or those of one type, when what it did is committed: such as failing. */
export const afterEachActivity = (
  act: () => void,
  ...types: readonly string[]
): NonNullable<WorkerOptions['activityInterceptors']> => [
  ({ info }) => ({
    inbound: {
      async execute(input, next): Promise<unknown> {
        const result: unknown = await next(input);
        if (types.length === 0 || types.includes(info.activityType)) act();
        return result;
      },
    },
  }),
];
