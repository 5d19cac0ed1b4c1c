import { flowList } from '../../schemas/flows/index.js';
import type { Operations } from '../../schemas/index.js';
import type { Handlers } from '../mount.js';
import { runSlug } from '../slug-flow.js';

/** Every slug is run alike: what it does is in its workflow. */
export const flowHandlers = Object.fromEntries(
  flowList.map(([workflow]) => [
    workflow,
    async ({ query, body, idempotencyKey }, scope, platform) => {
      const { executionId, output } = await runSlug(scope, platform, {
        ...{ workflow, body, idempotencyKey, isDraft: query.draftMode },
      });
      return { output: output as Record<string, unknown>, flowExecutionId: executionId };
    },
  ]),
) as Handlers<Operations['flow']>;
