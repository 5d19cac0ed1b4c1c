import type { Static } from 'typebox';
import { checkRepricing } from '../../commands/usage/repricing/begin-repricing.js';
import { promoteRepricing as promote } from '../../commands/usage/repricing/promote-repricing.js';
import { decimalText, type Decimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { jsonSafe } from '../../kernel/text/json.js';
import type { Platform } from '../../process/platform.js';
import { resolveNaturalKeys } from '../../queries/keys/resolve-natural-keys.js';
import { requireHalfOpenRange } from '../../queries/lists/time-range.js';
import { checkFor } from '../../schemas/fields/validator.js';
import type { PromoteBody, Promoted } from '../../schemas/usage/promoted.js';
import type { repriceWorkflow } from '../../schemas/usage/repricing.js';
import { runFlow, type FlowStart } from '../run-flow.js';

const limit = (percent: Decimal | null | undefined): string | null =>
  percent === undefined || percent === null ? null : decimalText(percent);

const unique = (ids: readonly string[] | null | undefined): readonly string[] | null =>
  ids === undefined || ids === null ? null : [...new Set(ids)];

/**
 * A what-if to start. 400: the data are not valid, or name what there is not. 409: usage of the range is in
 * the archive alone.
 */
export async function repricing(
  scope: Scope,
  schema: (typeof repriceWorkflow)['data'],
  given: Record<string, unknown>,
  idempotencyKey: string | null,
): Promise<FlowStart<'repriceUsage'>> {
  const data = checkFor(scope)(schema, given);
  await resolveNaturalKeys(scope, schema, data);
  const { from, to } = requireHalfOpenRange(data);
  const { name, changes, guard } = data;
  const [accountIds, serviceIds] = [unique(data.accountIds), unique(data.serviceIds)];
  await checkRepricing(scope, { from, to, accountIds, serviceIds }, changes);
  return {
    workflow: 'repriceUsage',
    input: {
      name,
      from,
      to,
      accountIds,
      serviceIds,
      changes: jsonSafe(changes),
      guard: {
        accountChangeMax: limit(guard?.accountChangeMax),
        totalDecreaseMax: limit(guard?.totalDecreaseMax),
      },
    },
    businessKey: (executionId) => `reprice/${executionId}`,
    entityType: 'usage',
    entityId: 'all',
    idempotencyKey,
    isLong: true,
    summary: `what if: ${name}`,
  };
}

/** Puts what was tried in force, with an execution (docs/decisions/0523); with `dryRun` only says what. */
export async function promoteRepricing(
  scope: Scope,
  platform: Platform,
  {
    repricingId,
    fromDate,
    force,
    dryRun,
  }: Static<typeof PromoteBody> & {
    readonly repricingId: string;
  },
  idempotencyKey: string | null,
): Promise<Static<typeof Promoted>> {
  const input = { repricingId, fromDate, force: force === true };
  if (dryRun === true) return promote(scope, { ...input, dryRun });
  const { output, executionId } = await runFlow(scope, platform, {
    workflow: 'promoteRepricing',
    input,
    businessKey: (id) => `repricing/${repricingId}/promote/${id}`,
    entityType: 'usage',
    entityId: repricingId,
    idempotencyKey,
    summary: 'put tried prices in force',
  });
  return { ...output, executionId };
}
