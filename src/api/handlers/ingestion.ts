import { Problem } from '../../kernel/problem.js';
import { publishUsage, publishUsageBatch } from '../../platform/usage-gateway.js';
import type { Operations } from '../../schemas/index.js';
import type { Handlers } from '../mount.js';
import { presentProblem } from '../presenters/problem.js';

export const ingestionHandlers: Handlers<Operations['ingestion']> = {
  publish: ({ body }, scope, { broker }) => publishUsage(broker, scope, body),
  publishBatch: async ({ body }, scope, { broker }) => {
    const results = await publishUsageBatch(broker, scope, body);
    return results.map((result) =>
      result instanceof Problem ? presentProblem('ingestion', result, '') : result,
    );
  },
};
