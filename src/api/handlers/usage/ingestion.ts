import { Problem } from '../../../kernel/problem.js';
import { publishUsage, publishUsageBatch } from '../../../platform/publish-usage.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';
import { presentProblem } from '../../presenters/problem.js';

export const ingestionHandlers: Handlers<Operations['ingestion']> = {
  publish: async ({ body }, scope, { broker, metrics }) => {
    const result = await publishUsage(broker, scope, body);
    metrics.ingestAccepted.inc();
    return result;
  },
  publishBatch: async ({ body }, scope, { broker, metrics }) => {
    const results = await publishUsageBatch(broker, scope, body);
    metrics.ingestAccepted.inc(results.filter((result) => !(result instanceof Problem)).length);
    return results.map((result) =>
      result instanceof Problem ? presentProblem('ingestion', result, '') : result,
    );
  },
};
