import type { Knex } from 'knex';
import { inPortions, Portions } from '../../kernel/portions.js';
import { RatedTransaction } from '../../models/usage/rated-transaction.js';
import { readPlans } from '../../models/usage/plans/read-plans.js';
import type { RecurringCharge } from '../../models/billing/recurring-charge.js';
import {
  compileInPieces,
  explain,
  explainRecurringCharge,
  prepareFromPlan,
  recurringEvent,
  type Explanation,
  type PlanLine,
  type RatingPlan,
} from '../../rating/index.js';
import {
  chargesThatFit,
  contentAt,
  madeTogether,
  readContents,
} from '../usage/corrections/content-at.js';
import { findCredits, withCredits } from '../balances/charge-credits.js';
import { isChargeOf, recomputeWith, recomputeWithoutMessage } from '../usage/usage-explanation.js';
import { readMessage } from '../usage/usage-message.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** A rated transaction that is to be explained. */
export interface UsagePart {
  readonly id: string;
  readonly usageEventId: string;
}

/** Explanations by the usage part or recurring charge that was passed in. */
type ExplainedParts = Map<object, Explanation>;

/**
 * Transactions read and explained at once, fewer where their messages are long; usually the size limit is
 * reached much earlier.
 */
const portionSize = 500;

/**
 * Explains transactions and charges by recomputing them from the inputs recorded at rating, until
 * the explanations have `lengthMax` characters; the others get none.
 */
export async function explainParts(
  db: Knex,
  tenantId: string,
  given: { readonly parts: readonly UsagePart[]; readonly charges: readonly RecurringCharge[] },
  lengthMax: number,
): Promise<ExplainedParts> {
  const explained: ExplainedParts = new Map();
  const room = { left: lengthMax };
  for (let at = 0; at < given.parts.length && room.left > 0;) {
    const next = given.parts.slice(at, at + portionSize);
    const parts = await chargesThatFit(db, tenantId, next, ({ usageEventId }) => usageEventId);
    const explainer = await openExplainer(db, tenantId, parts, []);
    const some = parts.slice(0, explainer.count);
    at += some.length;
    await keepFitting(some, (part) => explainer.usage(part), explained, room);
  }
  for (let at = 0; at < given.charges.length && room.left > 0;) {
    const charges = given.charges.slice(at, at + portionSize);
    const explainer = await openExplainer(db, tenantId, [], charges);
    const some = charges.slice(0, explainer.count);
    at += some.length;
    await keepFitting(some, (charge) => explainer.charge(charge), explained, room);
  }
  return explained;
}

async function keepFitting<T extends object>(
  values: readonly T[],
  explanationOf: (value: T) => Explanation | null,
  into: ExplainedParts,
  room: { left: number },
): Promise<void> {
  const portions = new Portions();
  for (const value of values) {
    if (room.left <= 0) return;
    if (portions.isOver) await portions.rest();
    const found = explanationOf(value);
    room.left -= JSON.stringify(found).length;
    if (found && room.left >= 0) into.set(value, found);
  }
}

/** The charge that explains one of those of an event: a reversal is explained as what it takes back. */
function explainedCharge(
  all: readonly RatedTransaction[],
  id: string,
): RatedTransaction | undefined {
  const one = all.find((transaction) => transaction.id === id);
  return all.find((transaction) => transaction.id === (one?.reverses ?? id));
}

/**
 * Recomputes the first `count` of these transactions and charges: those whose plans may be held at once. All
 * charges of an event are needed, since each records the positions of the counters.
 */
async function openExplainer(
  db: Knex,
  tenantId: string,
  parts: readonly UsagePart[],
  charges: readonly RecurringCharge[],
) {
  const eventIds = [...new Set(parts.map(({ usageEventId }) => usageEventId))];
  const contents = await readContents(db, tenantId, eventIds);
  const byEvent = await RatedTransaction.allOfEvents(db, tenantId, eventIds);
  const transactions = [...byEvent.values()].flat();
  const ownOf = ({ id, usageEventId }: UsagePart): RatedTransaction | undefined =>
    explainedCharge(byEvent.get(usageEventId) ?? [], id);
  const planIdsOf = (charge?: { readonly planId: string }) => (charge ? [charge.planId] : []);
  const items = [...parts.map((part) => planIdsOf(ownOf(part))), ...charges.map(planIdsOf)];
  const { plans, count } = await readPlans({ db, tenantId }, items);
  for (const plan of plans.values()) await inPortions(compileInPieces(plan));
  const lines = await readLines(db, tenantId, [...transactions, ...charges]);
  const credits = await findCredits(
    db,
    tenantId,
    [...parts, ...charges].map(({ id }) => id),
  );
  return {
    count,
    usage(part: UsagePart): Explanation | null {
      const { id, usageEventId } = part;
      const all = byEvent.get(usageEventId) ?? [];
      const own = ownOf(part);
      const plan = own && plans.get(own.planId);
      if (!plan) return null;
      const text = contentAt(contents.get(usageEventId), own.ratedAt);
      const message = text === null ? null : readMessage(text);
      if (message?.read.ok === false) return null;
      const ofEvent = madeTogether(all, own);
      const line = lines.get(own.contractServiceId ?? '') ?? null;
      const again = message?.read.ok
        ? recomputeWith(plan, message.read.event, ofEvent, line)
        : recomputeWithoutMessage(plan, ofEvent, line);
      const found = again?.explanations.find(
        isChargeOf(own.accountId, own.usageType, own.shareOf !== null),
      );
      return withCredits(found ?? null, credits.get(id));
    },
    charge(charge: RecurringCharge): Explanation | null {
      const plan = plans.get(charge.planId);
      const line = lines.get(charge.contractServiceId) ?? null;
      const found = plan ? explainCharge(charge, plan, line) : null;
      return withCredits(found, credits.get(charge.id));
    },
  };
}

function explainCharge(
  charge: RecurringCharge,
  plan: RatingPlan,
  line: PlanLine | null,
): Explanation | null {
  const values = new Map(Object.entries(charge.dimensions));
  const event = recurringEvent(charge.serviceId, charge.billStartDate, values);
  const prepared = prepareFromPlan(plan, event, { accountId: charge.masterAccountId, line });
  if (!prepared.ok) return null;
  const explained = explain(prepared, new Map());
  if (!explained.ok) return null;
  const found = explained.explanations.find(
    isChargeOf(charge.accountId, charge.usageType, charge.sharedBy !== null),
  );
  return found ? explainRecurringCharge(found, charge) : null;
}

async function readLines(
  db: Knex,
  tenantId: string,
  charges: readonly { readonly contractServiceId: string | null }[],
): Promise<Map<string, PlanLine>> {
  const ids = charges.map(({ contractServiceId }) => contractServiceId).filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await sqlRows<PlanLine>(
    db,
    `select line.id, coalesce(line.lineage_id, line.id) as "lineageId", contract.id as "contractId", contract.number as "contractNumber",
       line.service_instance_id as "serviceInstanceId"
     from contract_service as line join contract
       on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
     where line.tenant_id = ? and line.id = any(?::uuid[])`,
    [tenantId, [...new Set(ids)]],
  );
  return new Map(rows.map((line) => [line.id, line]));
}
