import type { Scope } from '../../../kernel/scope.js';
import { inPortions, Portions } from '../../../kernel/portions.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { readPlans } from '../../../models/usage/plans/read-plans.js';
import {
  compileInPieces,
  type Explained,
  type Explanation,
  type PlanLine,
  type RatingPlan,
} from '../../../rating/index.js';
import { eventOfCharges } from '../gone-message.js';
import { findLines, isChargeOf, recomputeWith } from '../usage-explanation.js';
import { readMessage } from '../usage-message.js';
import { contentAt, madeTogether, readContents } from './content-at.js';
import { firstDifference, type FirstDifference } from './first-difference.js';

/** A charge that was reversed, and the one in its place, with what they have in common. */
export interface ChargePair {
  readonly position: number;
  readonly eventId: string;
  readonly beforeId: string | null;
  readonly afterId: string | null;
  readonly externalTransactionId: string;
  readonly accountId: string;
  readonly serviceId: string;
  readonly currency: string;
  readonly usageType: string;
  readonly transactionDate: string;
  /** Decimal text. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface ExplainedPair {
  readonly beforeExplanation: Explanation | null;
  readonly afterExplanation: Explanation | null;
  readonly firstDifference: FirstDifference | null;
}

/** What explains charges of any time: the plans, lines and contents that they were made with. */
export interface ExplainingFacts {
  readonly charges: ReadonlyMap<string, readonly RatedTransaction[]>;
  readonly plans: ReadonlyMap<string, RatingPlan>;
  readonly lines: ReadonlyMap<string, PlanLine>;
  readonly contents: Awaited<ReturnType<typeof readContents>>;
  /** How many of the asked have their plans: as many of the first as may be held at once. */
  readonly count: number;
}

/**
 * Explains both charges of each pair of a correction, and says where the explanations part: of as many of the
 * first pairs as have plans that may be held at once. Counters stand where they stood when it was made,
 * whatever came after it.
 */
export async function explainPairs(
  scope: Scope,
  pairs: readonly ChargePair[],
  correctedAt: Date,
): Promise<ExplainedPair[]> {
  const asked = pairs.map(({ eventId, beforeId, afterId }) => ({
    eventId,
    ids: [beforeId, afterId],
  }));
  // What the correction itself has left in its place is none of its pairs.
  const facts = await readExplainingFacts(scope, asked, correctedAt);
  const explained: ExplainedPair[] = [];
  const portions = new Portions();
  for (const { eventId, beforeId, afterId } of pairs.slice(0, facts.count)) {
    const before = explainCharge(facts, eventId, beforeId);
    const after = explainCharge(facts, eventId, afterId);
    explained.push({
      beforeExplanation: before,
      afterExplanation: after,
      firstDifference: firstDifference(before, after),
    });
    if (portions.isOver) await portions.rest();
  }
  return explained;
}

/** Charges of an event that are to be explained together. */
export interface AskedCharges {
  readonly eventId: string;
  readonly ids: readonly (string | null)[];
}

/** What explains these charges as they were known then. */
export async function readExplainingFacts(
  { db, tenantId }: Scope,
  asked: readonly AskedCharges[],
  knownOn: Date | null,
): Promise<ExplainingFacts> {
  const eventIds = [...new Set(asked.map(({ eventId }) => eventId))];
  const charges = await RatedTransaction.allOfEvents(db.read, tenantId, eventIds, knownOn);
  const all = [...charges.values()].flat();
  const items = asked.map(({ eventId, ids }) =>
    (charges.get(eventId) ?? []).flatMap(({ id, planId }) => (ids.includes(id) ? [planId] : [])),
  );
  const { plans, count } = await readPlans({ db: db.read, tenantId }, items);
  for (const plan of plans.values()) await inPortions(compileInPieces(plan));
  return {
    charges,
    plans,
    count,
    lines: await findLines(db.read, tenantId, all),
    contents: await readContents(db.read, tenantId, eventIds),
  };
}

/** How a charge of the books came about; null: there is none, or it cannot be told. */
export function explainCharge(
  { charges, plans, lines, contents }: ExplainingFacts,
  eventId: string,
  id: string | null,
): Explanation | null {
  const all = charges.get(eventId) ?? [];
  const charge = all.find((one) => one.id === id);
  const plan = plans.get(charge?.planId ?? '');
  if (!charge || !plan) return null;
  const together = madeTogether(all, charge);
  const line = lines.get(charge.contractServiceId ?? '') ?? null;
  const text = contentAt(contents.get(eventId), charge.ratedAt);
  const read = text === null ? null : readMessage(text).read;
  const event = read === null ? eventOfCharges(plan, together) : read.ok ? read.event : null;
  const again: Explained | null = event ? recomputeWith(plan, event, together, line) : null;
  const index = again?.transactions.findIndex(
    isChargeOf(charge.accountId, charge.usageType, charge.shareOf !== null),
  );
  return (index === undefined ? null : again?.explanations[index]) ?? null;
}
