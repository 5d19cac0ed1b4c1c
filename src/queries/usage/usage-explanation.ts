import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { Decimal } from '../../kernel/numbers/money.js';
import { inPortions } from '../../kernel/portions.js';
import type { Scope } from '../../kernel/scope.js';
import { UsageCorrection } from '../../models/usage/corrections/usage-correction.js';
import { readPlans } from '../../models/usage/plans/read-plans.js';
import { RatedTransaction } from '../../models/usage/rated-transaction.js';
import type { UsageEvent } from '../../models/usage/usage-event.js';
import {
  compileInPieces,
  explain,
  prepareFromPlan,
  recomputeOperationsMax,
  Spending,
  type Explained,
  type PlanLine,
  type RatedDimension,
  type RatingPlan,
  type UsageEvent as RatedEvent,
} from '../../rating/index.js';
import type * as schema from '../../schemas/usage/usage-event.js';
import { findCredits, withCredits } from '../balances/charge-credits.js';
import { findAccountNumbers, presentRatedTransaction } from './rated-transaction.js';
import { eventOfCharges } from './gone-message.js';
import { countersBefore, recordedMoves } from './recorded-moves.js';
import type { ReadMessage } from './usage-message.js';

type ExplainedTransactionDto = Static<typeof schema.UsageEvent>['ratedTransactions'][number];

/**
 * The explained charges of a rated event: recomputed by the rating engine from the recorded plan,
 * the event and the previous counters, and compared with the stored charges.
 */
export async function explainCharges(
  scope: Scope,
  event: UsageEvent,
  message: ReadMessage,
  knownOn: Date | null,
): Promise<ExplainedTransactionDto[]> {
  const { tenantId, db } = scope;
  const transactions = await RatedTransaction.ofEvent(db.read, tenantId, event.id, knownOn);
  const numbers = await findAccountNumbers(
    db.read,
    tenantId,
    transactions.map(({ accountId }) => accountId),
  );
  const explained = await recompute(db.read, tenantId, transactions, event.text, message);
  const credits = await findCredits(
    db.read,
    tenantId,
    transactions.map(({ id }) => id),
  );
  const corrections = await UsageCorrection.reasonsOf(
    db.read,
    tenantId,
    transactions.flatMap(({ correctionId }) => correctionId ?? []),
  );
  return transactions.map((transaction) => {
    const index = explained?.transactions.findIndex(
      isChargeOf(transaction.accountId, transaction.usageType, transaction.shareOf !== null),
    );
    const again = index === undefined ? undefined : explained?.transactions[index];
    return {
      ...presentRatedTransaction(transaction, numbers),
      correction: corrections.get(transaction.correctionId ?? '') ?? null,
      explanation: withCredits(
        (index === undefined ? null : explained?.explanations[index]) ?? null,
        credits.get(transaction.id),
      ),
      matches: again !== undefined && isSame(transaction, again.amount, again.dimensions),
    };
  });
}

/**
 * Selects the recomputed charge of a stored one: an event has one charge per account and usage
 * type, and a second one if accounts share it.
 */
export const isChargeOf =
  (accountId: string, usageType: string, isShared: boolean) =>
  (charge: {
    readonly billedAccountId: string;
    readonly usageType: string;
    readonly share?: object;
  }): boolean =>
    charge.billedAccountId === accountId &&
    charge.usageType === usageType &&
    (charge.share !== undefined) === isShared;

function isSame(
  stored: RatedTransaction,
  amount: Decimal,
  dimensions: readonly RatedDimension[],
): boolean {
  const before = stored.dimensions;
  return (
    amount.equals(stored.amount) &&
    before.length === dimensions.length &&
    dimensions.every(({ calcAmount, volume }, index) => {
      const dimension = before[index];
      return (
        dimension && calcAmount.equals(dimension.calcAmount) && volume.equals(dimension.volume)
      );
    })
  );
}

async function recompute(
  db: Knex,
  tenantId: string,
  transactions: readonly RatedTransaction[],
  text: string | null,
  { read }: ReadMessage,
): Promise<Explained | null> {
  const [first] = transactions;
  if (!first || !(read.ok || text === null)) return null;
  const plan = await findPlan(db, tenantId, first.planId);
  if (!plan) return null;
  const lines = await findLines(db, tenantId, [first]);
  const line = lines.get(first.contractServiceId ?? '') ?? null;
  if (read.ok) return recomputeWith(plan, read.event, transactions, line);
  return recomputeWithoutMessage(plan, transactions, line);
}

/**
 * The same of an event whose message is gone, by what its charges keep of it; null where that does
 * not come to the same charges.
 */
export function recomputeWithoutMessage(
  plan: RatingPlan,
  transactions: readonly RatedTransaction[],
  line: PlanLine | null,
): Explained | null {
  const event = eventOfCharges(plan, transactions);
  const again = event ? recomputeWith(plan, event, transactions, line) : null;
  if (again?.transactions.length !== transactions.length) return null;
  const isWhole = transactions.every((stored) => {
    const charge = again.transactions.find(
      isChargeOf(stored.accountId, stored.usageType, stored.shareOf !== null),
    );
    return charge !== undefined && isSame(stored, charge.amount, charge.dimensions);
  });
  return isWhole ? again : null;
}

/**
 * Recomputes the charges of an event from the inputs recorded at rating; null if that is
 * impossible.
 */
export function recomputeWith(
  plan: RatingPlan,
  event: RatedEvent,
  transactions: readonly RatedTransaction[],
  line: PlanLine | null,
): Explained | null {
  const owner = { accountId: transactions[0]?.masterAccountId ?? '', line };
  const spending = new Spending(recomputeOperationsMax);
  const prepared = prepareFromPlan(plan, event, owner, spending);
  if (!prepared.ok) return null;
  // Every price of an event begins at the counters before it (docs/decisions/0012).
  const moves = recordedMoves({ charges: transactions });
  const explained = explain(prepared, countersBefore(moves));
  return explained.ok ? explained : null;
}

async function findPlan(db: Knex, tenantId: string, id: string): Promise<RatingPlan | undefined> {
  const { plans } = await readPlans({ db, tenantId }, [[id]]);
  const plan = plans.get(id);
  if (plan) await inPortions(compileInPieces(plan));
  return plan;
}

interface StoredLine {
  readonly id: string;
  readonly lineageId: string | null;
  readonly number: string;
  readonly serviceInstanceId: string | null;
}

/** The lines that charges were rated under, also those that were deleted since. */
export async function findLines(
  db: Knex,
  tenantId: string,
  charges: readonly Pick<RatedTransaction, 'contractId' | 'contractServiceId'>[],
): Promise<Map<string, PlanLine>> {
  const contracts = new Map<string, string>();
  for (const { contractId, contractServiceId } of charges) {
    if (contractServiceId !== null) contracts.set(contractServiceId, contractId ?? '');
  }
  if (contracts.size === 0) return new Map();
  const rows = await db('contractService as line')
    .join('contract', (join) =>
      join.on('contract.tenantId', 'line.tenantId').andOn('contract.id', 'line.contractId'),
    )
    .where('line.tenantId', tenantId)
    .whereIn('line.id', [...contracts.keys()])
    .select<StoredLine[]>('line.id', 'line.lineageId', 'contract.number', 'line.serviceInstanceId');
  const known = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    [...contracts].map(([id, contractId]) => {
      const line = known.get(id);
      const { number: contractNumber = '', serviceInstanceId = null } = line ?? {};
      const lineageId = line?.lineageId ?? id;
      return [id, { id, lineageId, contractId, contractNumber, serviceInstanceId }];
    }),
  );
}
