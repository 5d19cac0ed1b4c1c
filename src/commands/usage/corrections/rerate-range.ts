import { newId } from '../../../kernel/id.js';
import { Decimal } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import type { RerateInput } from '../../../messages/usage-workflow.js';
import { publishCorrection } from '../../../models/usage/corrections/known-instant.js';
import { UsageCorrection } from '../../../models/usage/corrections/usage-correction.js';
import {
  listDroppedMonths,
  monthsOfTimes,
  refuseArchived,
} from '../../../models/usage/finding/dropped-month.js';
import { CorrectedSums } from '../../../queries/usage/corrections/corrected-sums.js';
import { presentSums } from '../../../queries/usage/corrections/correction.js';
import {
  findOwners,
  requestOfRange,
} from '../../../queries/usage/corrections/rerating/rerate-range.js';
import type {
  ChangeSink,
  RerateRequest,
} from '../../../queries/usage/corrections/rerating/rerate-request.js';
import type { Rerating } from '../../../queries/usage/corrections/rerating/rerating.js';
import { keptOf, lockCorrection, rerateAll } from './compute-correction.js';
import { CorrectionWriter, type StorePlans } from './write-correction.js';

/** Accounts that the output names. */
const accountsMax = 1_000;

/** A dry run wants figures only. */
const nowhere: ChangeSink = {
  add: () => Promise.resolve(),
  place: () => Promise.resolve(),
  discard: () => Promise.resolve(),
  keep: () => Promise.resolve(),
};

async function* requestsOf(
  { db, tenantId }: Scope,
  input: RerateInput,
): AsyncGenerator<RerateRequest> {
  refuseArchived(monthsOfTimes(await listDroppedMonths(db.read, tenantId), input));
  for (const owner of await findOwners(db.read, tenantId, input)) {
    const request = await requestOfRange(db.read, tenantId, owner, input);
    if (request) yield request;
  }
}

/** What rating the range again would give; nothing is written or locked. */
export async function previewRerating(scope: Scope, input: RerateInput) {
  const { db, tenantId } = scope;
  return outputOf(
    input,
    null,
    await rerateAll(db.read, tenantId, () => requestsOf(scope, input), nowhere),
  );
}

/**
 * Rates what happened in the range again with what is in force now, in the transaction of a step
 * (docs/decisions/0372, 0385).
 */
export async function rerateUsage(
  scope: Scope,
  input: RerateInput,
  { executionId, storePlans }: { readonly executionId: string; readonly storePlans: StorePlans },
) {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const { reason, from, to, accountId, contractId, serviceId } = input;
    const id = newId();
    const writer = new CorrectionWriter(trx, scope, { id, reason, ownEventId: null, storePlans });
    const { reratings, counters, stored } = await lockCorrection(trx, tenantId, {
      requests: () => requestsOf(scope, input),
      writer,
      lockOwn: () => Promise.resolve(true),
    });
    await writer.finish(counters, stored, new Map());
    const { sums, events } = figuresOf(reratings);
    await UsageCorrection.write(trx, tenantId, {
      id,
      kind: 'rerate',
      reason,
      actor: scope.actor,
      executionId,
      eventId: null,
      scope: { from, to, accountId, contractId, serviceId },
      events,
      changed: writer.figures.changed,
      rejected: keptOf(reratings),
      before: sums.totals('before'),
      after: sums.totals('after'),
      accounts: sums.accounts(accountsMax),
      createdAt: await publishCorrection(trx, tenantId),
    });
    return outputOf(input, id, reratings);
  });
}

function figuresOf(reratings: readonly Rerating[]) {
  const sums = new CorrectedSums();
  let events = 0;
  for (const { result } of reratings) {
    events += result.targets;
    sums.addAll(result.sums);
  }
  return { sums, events };
}

function outputOf(
  { dryRun }: RerateInput,
  correctionId: string | null,
  reratings: readonly Rerating[],
) {
  const { sums, events } = figuresOf(reratings);
  return {
    correctionId,
    dryRun,
    events,
    changed: reratings.reduce((count, { result }) => count + result.changed, 0),
    rejected: keptOf(reratings),
    before: presentSums(sums.totals('before')),
    after: presentSums(sums.totals('after')),
    accounts: sums.accounts(accountsMax).map(({ accountId, currency, before, after }) => ({
      accountId,
      currency,
      before: new Decimal(before),
      after: new Decimal(after),
    })),
  };
}
