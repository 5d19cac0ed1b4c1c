import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { chargeId, chargesMax } from '../../../messages/usage-log.js';
import {
  insertReversals,
  type CorrectedPair,
} from '../../../models/usage/corrections/usage-correction.js';
import {
  RatedTransaction,
  type RatedTransactionRow,
} from '../../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../../models/usage/rating-plan.js';
import { noChange, UsageConsumer, type TallyChange } from '../../../models/usage/usage-consumer.js';
import { UsageCounter } from '../../../models/usage/usage-counter.js';
import type { RecordedEvent } from '../../../queries/usage/corrections/recorded-event.js';
import type { RatedAgain, Rerated } from '../../../queries/usage/corrections/rerate.js';
import { storedOf } from '../../../queries/usage/corrections/same-charges.js';
import type { RatingPlan } from '../../../rating/index.js';
import { countCharges, countedCharge, type CountedCharge } from '../../balances/figures.js';
import { payCharges, returnCredits } from '../../balances/pay-charges.js';
import { chargeRow } from '../charge-row.js';
import { UsageTotals } from '../usage-totals.js';

interface Reversal {
  readonly id: string;
  readonly of: string;
}

/** What a correction adds to the books. */
class Additions {
  readonly reversals: Reversal[] = [];
  readonly rows: RatedTransactionRow[] = [];
  readonly plans = new Set<RatingPlan>();
  readonly pairs: CorrectedPair[] = [];
  readonly totals = new UsageTotals();
  readonly counted: CountedCharge[] = [];
  readonly #correctionId: string;

  constructor(correctionId: string) {
    this.#correctionId = correctionId;
  }

  /** Adds the reversals of an event, and its new charges; answers with their number. */
  add({ event, isTarget, outcome }: RatedAgain): number {
    const first = event.chargeCount;
    let number = first;
    const eventId = event.id;
    const unpaired = new Map(event.charges.map((charge) => [charge.id, charge]));
    for (const { id } of event.charges) {
      number += 1;
      this.reversals.push({ id: chargeId(eventId, number), of: id });
    }
    this.counted.push(...event.charges.map(countedReversal));
    if (event.charges.length > 0) this.totals.subtract(event.hour, event.charges);
    if (outcome) {
      const { prepared, rated } = outcome;
      this.plans.add(prepared.plan);
      this.totals.add(outcome);
      for (const charge of rated.transactions) {
        number += 1;
        const row = chargeRow(
          { eventId, number, correctionId: this.#correctionId },
          prepared,
          charge,
        );
        const stored = isTarget ? row : { ...row, ...factsOf(event) };
        this.rows.push(stored);
        this.counted.push(countedCharge(stored, charge.dimensions));
        const before = storedOf(event.charges, charge)?.id ?? null;
        if (before !== null) unpaired.delete(before);
        this.#pair(eventId, before, row.id);
      }
    }
    for (const before of unpaired.keys()) this.#pair(eventId, before, null);
    if (number <= chargesMax) return number - first;
    throw problem.conflict(`The usage event '${eventId}' was corrected too often.`);
  }

  #pair(eventId: string, beforeId: string | null, afterId: string | null): void {
    this.pairs.push({ position: this.pairs.length, eventId, beforeId, afterId });
  }
}

/** Of an event that nothing becomes of but that its counters move: under which line it was rated. */
function factsOf({ charges: [first] }: RecordedEvent) {
  return first
    ? {
        serviceInstanceId: first.serviceInstanceId,
        contractId: first.contractId,
        contractServiceId: first.contractServiceId,
      }
    : {};
}

/** Charges that one statement writes. */
const rowsAtOnce = 5_000;

async function inPieces<T>(all: readonly T[], write: (piece: T[]) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += rowsAtOnce) {
    await write(all.slice(from, from + rowsAtOnce));
  }
}

/** How the tallies of partitions change, beside the number of charges. */
export type StatusChanges = ReadonlyMap<number, Partial<TallyChange>>;

/**
 * Adds reversals and new charges, with the counters and totals that follow; what is there stays as it
 * is. The counters and the partitions of the events are locked.
 */
export async function writeCharges(
  trx: Knex.Transaction,
  scope: Scope,
  correctionId: string,
  { changes, counters }: Pick<Rerated, 'changes' | 'counters'>,
  statuses: StatusChanges,
): Promise<readonly CorrectedPair[]> {
  const { tenantId } = scope;
  const added = new Additions(correctionId);
  const charges = new Map<number, number>();
  for (const change of changes) {
    const { partition } = change.event;
    charges.set(partition, (charges.get(partition) ?? 0) + added.add(change));
  }
  await StoredRatingPlan.insertMissing(trx, tenantId, added.plans);
  await inPieces(added.reversals, (piece) => insertReversals(trx, tenantId, correctionId, piece));
  await inPieces(added.rows, (piece) => RatedTransaction.insertMany(trx, tenantId, piece));
  const moved = [...counters.values()].filter(
    ({ counter, value }) => counter.stored === null || !value.equals(counter.stored),
  );
  await UsageCounter.write(
    trx,
    tenantId,
    moved.map(({ counter: { key, stored }, value }) => ({ key, value, isNew: stored === null })),
  );
  await added.totals.write(trx, tenantId);
  const partitions = [...new Set([...charges.keys(), ...statuses.keys()])].sort((a, b) => a - b);
  for (const partition of partitions) {
    const transactions = charges.get(partition) ?? 0;
    const change = { ...noChange(), ...statuses.get(partition), transactions };
    await UsageConsumer.advance(trx, tenantId, partition, change);
  }
  await settleCorrection(trx, scope, added);
  return added.pairs;
}

/**
 * A reversal puts back what its charge drew, and the new charges draw (spec/beyond.md R280); figures of
 * alerts move by both. The last step: it locks wallets and figures until the commit.
 */
async function settleCorrection(
  trx: Knex.Transaction,
  scope: Scope,
  { reversals, rows, counted }: Additions,
): Promise<void> {
  await returnCredits(
    trx,
    scope,
    reversals.map(({ id, of }) => ({ chargeId: of, under: id })),
  );
  await payCharges(trx, scope, rows);
  await countCharges(trx, scope, counted);
}

/** A reversed charge as the figures of alerts count it. */
const countedReversal = (charge: RatedTransaction): CountedCharge => ({
  date: charge.transactionDate,
  accountId: charge.accountId,
  contractId: charge.contractId,
  serviceId: charge.serviceId,
  currency: charge.currency,
  usageType: charge.usageType,
  amount: new Decimal(charge.amount).negated(),
  volumes: charge.dimensions.map(({ dimensionName, volume }) => ({
    attributeName: dimensionName,
    volume: new Decimal(volume).negated(),
  })),
});
