import { newId } from '../../../kernel/id.js';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import type { RerateInput } from '../../../messages/usage-workflow.js';
import { UsageCorrection } from '../../../models/usage/corrections/usage-correction.js';
import { CorrectedSums } from '../../../queries/usage/corrections/corrected-sums.js';
import { presentSums } from '../../../queries/usage/corrections/correction.js';
import { findOwners, requestOfRange } from '../../../queries/usage/corrections/rerate-range.js';
import { changesMax, rerate } from '../../../queries/usage/corrections/rerate.js';
import { joinUnits, lockUnits, type Computed, type ComputedUnit } from './compute-correction.js';
import { countKept } from './correct-event.js';
import { recordCorrectedEvents } from './correction-webhook-event.js';
import { writeCharges } from './write-correction.js';

/** What a range was rated to again, before anything is locked. */
export interface PreparedRerating {
  readonly input: RerateInput;
  readonly computed: Computed;
}

/** Accounts that the output names. */
const accountsMax = 1_000;

/** Rates what happened in the range again with what is in force now; nothing is written or locked. */
export async function prepareRerating(
  { db, tenantId }: Scope,
  input: RerateInput,
): Promise<PreparedRerating> {
  const mark = await UsageCorrection.lastChange(db.read, tenantId);
  const units: ComputedUnit[] = [];
  let changes = 0;
  for (const owner of await findOwners(db.read, tenantId, input)) {
    const request = await requestOfRange(db.read, tenantId, owner, input);
    if (!request) continue;
    const rerated = await rerate(db.read, tenantId, request, { isLocked: false });
    changes += rerated.changes.length;
    if (changes > changesMax) {
      throw problem.conflict(
        `More than ${changesMax} events would have other charges: rate shorter ranges, or fewer accounts, again at once.`,
      );
    }
    units.push({ request, rerated });
  }
  return { input, computed: { mark, units } };
}

/**
 * Writes what a range was rated to again, in the transaction of a step (docs/decisions/0372); a dry
 * run gives the same figures and writes nothing.
 */
export async function rerateUsage(
  scope: Scope,
  { input, computed }: PreparedRerating,
  executionId: string,
) {
  const { tenantId } = scope;
  if (input.dryRun) return outputOf(input, null, computed.units);
  return scope.db.transaction(async (trx) => {
    const units = await lockUnits(trx, tenantId, computed);
    const { changes, counters } = joinUnits(units);
    const correctionId = newId();
    const pairs = await writeCharges(trx, scope, correctionId, { changes, counters }, new Map());
    const { sums, events } = figuresOf(units);
    const { from, to, accountId, contractId, serviceId } = input;
    await UsageCorrection.write(
      trx,
      tenantId,
      {
        id: correctionId,
        kind: 'rerate',
        reason: input.reason,
        actor: scope.actor,
        executionId,
        eventId: null,
        scope: { from, to, accountId, contractId, serviceId },
        events,
        changed: changes.length,
        rejected: countKept(units.flatMap(({ rerated }) => rerated.kept)),
        before: sums.totals('before'),
        after: sums.totals('after'),
        accounts: sums.accounts(accountsMax),
      },
      pairs,
    );
    await recordCorrectedEvents(trx, scope, {
      correctionId,
      reason: input.reason,
      canceled: [],
      corrected: changes.map(({ event }) => event.id),
    });
    return outputOf(input, correctionId, units);
  });
}

function figuresOf(units: readonly ComputedUnit[]) {
  const sums = new CorrectedSums();
  let events = 0;
  for (const { rerated } of units) {
    events += rerated.targets;
    sums.addAll(rerated.sums);
  }
  return { sums, events };
}

function outputOf(
  { dryRun }: RerateInput,
  correctionId: string | null,
  units: readonly ComputedUnit[],
) {
  const { sums, events } = figuresOf(units);
  return {
    correctionId,
    dryRun,
    events,
    changed: units.reduce((count, { rerated }) => count + rerated.changes.length, 0),
    rejected: countKept(units.flatMap(({ rerated }) => rerated.kept)),
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
