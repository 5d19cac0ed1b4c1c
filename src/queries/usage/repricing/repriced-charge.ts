import type { Static } from 'typebox';
import { Decimal, ZERO } from '../../../kernel/numbers/money.js';
import { inPortions, Portions } from '../../../kernel/portions.js';
import type { Scope } from '../../../kernel/scope.js';
import { Account } from '../../../models/accounts/account.js';
import { requireInDatabase } from '../../../models/usage/finding/dropped-month.js';
import { readPlans } from '../../../models/usage/plans/read-plans.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { counterIdOf } from '../../../models/usage/usage-counter.js';
import { readRun, type Repricing } from '../../../models/usage/repricing/repricing.js';
import {
  compileInPieces,
  explain,
  prepareFromPlan,
  recomputeOperationsMax,
  Spending,
  type Explanation,
  type PlanLine,
  type RatingPlan,
} from '../../../rating/index.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import type * as schema from '../../../schemas/usage/repriced-account.js';
import { missingAccount } from '../../accounts/account.js';
import { chargesThatFit, contentAt } from '../corrections/content-at.js';
import {
  explainCharge,
  readExplainingFacts,
  type ExplainedPair,
  type ExplainingFacts,
} from '../corrections/explained-pairs.js';
import { firstDifference } from '../corrections/first-difference.js';
import { findLines, isChargeOf } from '../usage-explanation.js';
import { readMessage } from '../usage-message.js';
import { ChangedFacts, type ChangedFact } from './changed-facts.js';
import type { PairedCharge } from './packed-charge.js';
import { readLargest, readRated } from './repriced-pairs.js';
import { findKept } from './repricing.js';

type ChargeDto = Static<typeof schema.RepricedCharge>;

/** Pages are smaller with explanations. */
const explainedMax = 100;

/** 404: there is no such account, and there was none. */
async function requireAccount({ db, tenantId }: Scope, accountId: string): Promise<void> {
  const known = await Account.query(db.read).forTenant(tenantId).findById(accountId).select('id');
  if (!known) throw missingAccount(accountId);
}

/**
 * The charges of an account, in the books and as they would be (spec/beyond.md R226). 404: there is no
 * such repricing, or account. 409: they were removed, or are of events that are in the archive alone.
 */
export async function listRepricedCharges(
  scope: Scope,
  { repricingId: id, accountId }: { readonly repricingId: string; readonly accountId: string },
  {
    explain: isExplained,
    sort,
    ...page
  }: PageRequest & { readonly explain: boolean; readonly sort?: 'difference:desc' | undefined },
): Promise<Listed<ChargeDto>> {
  const { tenantId, db } = scope;
  const repricing = await findKept(scope, id);
  const limit = isExplained ? Math.min(page.limit, explainedMax) : page.limit;
  const bindings = { tenantId, id: repricing.id, accountId };
  const readPairs = sort === undefined ? readRated : readLargest;
  const found = await readPairs(db.read, bindings, { limit, offset: page.offset });
  const { total } = found;
  if (total === 0) await requireAccount(scope, accountId);
  const { pairs } = found;
  const explained = isExplained ? await explainPage(scope, repricing, accountId, pairs) : null;
  const shown = explained ? pairs.slice(0, explained.length) : pairs;
  const eventIds = [...new Set(shown.map(({ eventId }) => eventId))];
  const at = repricing.createdAt;
  const charges = await RatedTransaction.allOfEvents(db.read, tenantId, eventIds, at);
  await requireInDatabase(db.read, tenantId, eventIds);
  const items = shown.map((pair, index) => ({
    ...presentPair(charges, pair),
    ...explained?.[index],
  }));
  const isCut = isExplained && items.length < Math.min(page.limit, total - page.offset);
  return { items, total, isCut };
}

function presentPair(charges: ExplainingFacts['charges'], pair: PairedCharge): ChargeDto {
  const { eventId, beforeId, currency, usageType } = pair;
  const [before, after] = [pair.before, pair.after].map((text) =>
    text === null ? ZERO : new Decimal(text),
  );
  const [was, is] = [before ?? ZERO, after ?? ZERO];
  // All charges of an event are of one message.
  const [any] = charges.get(eventId) ?? [];
  return {
    eventId,
    externalTransactionId: any?.externalTranId ?? '',
    serviceId: any?.serviceId ?? '',
    currency,
    usageType,
    transactionDate: any?.transactionDate ?? '',
    before: was,
    after: is,
    difference: is.minus(was),
    beforeId,
  };
}

/** Explanations of as many of the first pairs as have messages and plans that may be held at once. */
async function explainPage(
  scope: Scope,
  repricing: Repricing,
  accountId: string,
  found: readonly PairedCharge[],
): Promise<ExplainedPair[]> {
  const { db, tenantId } = scope;
  const pairs = await chargesThatFit(db.read, tenantId, found, ({ eventId }) => eventId);
  const asked = pairs.map(({ eventId, beforeId }) => ({ eventId, ids: [beforeId] }));
  const facts = await readExplainingFacts(scope, asked, repricing.createdAt);
  const tried = await readTried(scope, repricing, accountId, pairs.slice(0, facts.count));
  return explainPairs(tried, facts, pairs.slice(0, tried.count));
}

/** What explains charges as they would be. */
interface Tried {
  /** The billed account. */
  readonly accountId: string;
  readonly at: Date;
  readonly changes: ChangedFacts;
  readonly plans: ReadonlyMap<string, RatingPlan>;
  readonly lines: ReadonlyMap<string, PlanLine>;
  /** How many of the pairs have their plans. */
  readonly count: number;
}

async function readTried(
  { db, tenantId }: Scope,
  { id, createdAt }: Repricing,
  accountId: string,
  pairs: readonly PairedCharge[],
): Promise<Tried> {
  const origins = pairs.flatMap(({ origin }) => (origin ? [origin] : []));
  const run = await readRun(db.read, tenantId, id);
  const { plans, count } = await readPlans(
    { db: db.read, tenantId, repricingId: id },
    pairs.map(({ origin }) => (origin ? [origin.planId] : [])),
  );
  for (const plan of plans.values()) await inPortions(compileInPieces(plan));
  const lines = origins.map(({ lineId: contractServiceId, contractId }) => ({
    contractServiceId,
    contractId,
  }));
  return {
    accountId,
    at: createdAt,
    changes: new ChangedFacts((run?.facts ?? []) as readonly ChangedFact[]),
    plans,
    count,
    lines: await findLines(db.read, tenantId, lines),
  };
}

async function explainPairs(
  tried: Tried,
  facts: ExplainingFacts,
  pairs: readonly PairedCharge[],
): Promise<ExplainedPair[]> {
  const explained: ExplainedPair[] = [];
  const portions = new Portions();
  for (const pair of pairs) {
    const before = explainCharge(facts, pair.eventId, pair.beforeId);
    const after =
      pair.origin === null && pair.after !== null ? before : explainTried(tried, facts, pair);
    explained.push({
      beforeExplanation: before,
      afterExplanation: after,
      firstDifference: firstDifference(before, after),
    });
    if (portions.isOver) await portions.rest();
  }
  return explained;
}

/** How a charge would come about; null: it would be gone, or the message is. */
function explainTried(
  { accountId, at, changes, plans, lines }: Tried,
  { contents }: ExplainingFacts,
  { eventId, currency, usageType, isShared, origin }: PairedCharge,
): Explanation | null {
  const plan = plans.get(origin?.planId ?? '');
  const text = contentAt(contents.get(eventId), at);
  if (!origin || !plan || text === null) return null;
  const { read } = readMessage(text);
  if (!read.ok) return null;
  const owner = { accountId: origin.accountId, line: lines.get(origin.lineId ?? '') ?? null };
  const spending = new Spending(recomputeOperationsMax);
  const prepared = prepareFromPlan(plan, changes.eventOf(read.event, plan), owner, spending);
  if (!prepared.ok) return null;
  const before = new Map(
    Object.entries(origin.counters).map(([id, value]) => [id, new Decimal(value)]),
  );
  const again = explain(prepared, {
    get: (key) => before.get(counterIdOf(key)),
    hasCounted: (key) => origin.counted?.includes(counterIdOf(key)) === true,
  });
  if (!again.ok) return null;
  const isIt = isChargeOf(accountId, usageType, isShared);
  const index = again.transactions.findIndex((one) => one.currency === currency && isIt(one));
  return again.explanations[index] ?? null;
}
