import type { Static } from 'typebox';
import { Decimal, ZERO } from '../../../kernel/numbers/money.js';
import { Portions } from '../../../kernel/portions.js';
import type { Scope } from '../../../kernel/scope.js';
import { Account } from '../../../models/accounts/account.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { requireInDatabase } from '../../../models/usage/finding/dropped-month.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { counterIdOf } from '../../../models/usage/usage-counter.js';
import { readRun, type Repricing } from '../../../models/usage/repricing/repricing.js';
import {
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
  const pairs = isExplained
    ? await chargesThatFit(db.read, tenantId, found.pairs, ({ eventId }) => eventId)
    : found.pairs;
  const eventIds = [...new Set(pairs.map(({ eventId }) => eventId))];
  const at = repricing.createdAt;
  const facts = isExplained ? await readExplainingFacts(scope, eventIds, at) : null;
  const charges =
    facts?.charges ?? (await RatedTransaction.allOfEvents(db.read, tenantId, eventIds, at));
  await requireInDatabase(db.read, tenantId, eventIds);
  const explained = facts
    ? await explainPairs(await readTried(scope, repricing, accountId, pairs), facts, pairs)
    : [];
  const items = pairs.map((pair, index) => ({
    ...presentPair(charges, pair),
    ...explained[index],
  }));
  const isCut = isExplained && pairs.length < Math.min(page.limit, total - page.offset);
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

/** What explains charges as they would be. */
interface Tried {
  /** The billed account. */
  readonly accountId: string;
  readonly at: Date;
  readonly changes: ChangedFacts;
  readonly plans: ReadonlyMap<string, RatingPlan>;
  readonly lines: ReadonlyMap<string, PlanLine>;
}

async function readTried(
  { db, tenantId }: Scope,
  { id, createdAt }: Repricing,
  accountId: string,
  pairs: readonly PairedCharge[],
): Promise<Tried> {
  const origins = pairs.flatMap(({ origin }) => (origin ? [origin] : []));
  const run = await readRun(db.read, tenantId, id);
  const plans = await sqlRows<{ id: string; plan: RatingPlan }>(
    db.read,
    `select id, plan from repricing_plan
     where tenant_id = ? and repricing_id = ? and id = any(?::uuid[])`,
    [tenantId, id, [...new Set(origins.map(({ planId }) => planId))]],
  );
  const lines = origins.map(({ lineId: contractServiceId, contractId }) => ({
    contractServiceId,
    contractId,
  }));
  return {
    accountId,
    at: createdAt,
    changes: new ChangedFacts((run?.facts ?? []) as readonly ChangedFact[]),
    plans: new Map(plans.map((stored) => [stored.id, stored.plan])),
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
