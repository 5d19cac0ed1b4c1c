import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { Decimal, decimalText, ZERO } from '../../kernel/numbers/money.js';
import { writeTogether, type BulkStatement } from '../../models/db/bulk-table.js';
import {
  combinationOf,
  insertingMissingCombinations,
  type CombinationPart,
  type UsageCombination,
} from '../../models/usage/usage-combination.js';
import { StoredRatingPlan } from '../../models/usage/plans/rating-plan.js';
import { insertingUsageChange } from '../../models/usage/usage-total.js';
import type { RatedTransaction } from '../../models/usage/rated-transaction.js';
import type { RatedOutcome } from '../../queries/usage/usage-rater.js';
import type { ChargedFacts } from '../../rating/index.js';

/** Enough digits to add the largest and the smallest amounts without rounding. */
const Exact = Decimal.clone({ precision: 400 });

interface Sums {
  readonly combination: UsageCombination;
  readonly startAt: string;
  events: number;
  readonly quantities: Decimal[];
  readonly amounts: Decimal[];
}

/** The deltas of rated events for the totals by hour and combination of charges. */
export class UsageTotals {
  readonly #sums = new Map<string, Sums>();

  /** Adds a rated event. */
  add({
    prepared,
    rated,
  }: { readonly prepared: ChargedFacts } & Pick<RatedOutcome, 'rated'>): void {
    const { event } = prepared;
    const combination = combinationOfRated(prepared, rated.transactions);
    const sums = this.#sumsOf(event.timestamp.slice(0, 13), combination);
    sums.events += 1;
    let position = 0;
    for (const { quantity, amount, dimensions } of rated.transactions) {
      addAt(sums, position++, quantity, amount);
      for (const { volume, calcAmount } of dimensions) addAt(sums, position++, volume, calcAmount);
    }
  }

  /** Takes away an event whose charges no longer stand, by the hour in which it occurred. */
  subtract(hour: string, charges: readonly RatedTransaction[]): void {
    const combination = combinationOf(charges.flatMap(partsOfStored));
    const sums = this.#sumsOf(hour, combination);
    sums.events -= 1;
    let position = 0;
    for (const { quantity, amount, dimensions } of charges) {
      addAt(sums, position++, new Decimal(quantity).negated(), new Decimal(amount).negated());
      for (const { volume, calcAmount } of dimensions) {
        addAt(sums, position++, new Decimal(volume).negated(), new Decimal(calcAmount).negated());
      }
    }
  }

  /** Adds the deltas of others. */
  addAll(others: UsageTotals): void {
    for (const other of others.#sums.values()) {
      const sums = this.#sumsOf(other.startAt.slice(0, 13), other.combination);
      sums.events += other.events;
      for (const [position, quantity] of other.quantities.entries()) {
        addAt(sums, position, quantity, other.amounts[position] ?? ZERO);
      }
    }
  }

  #sumsOf(hour: string, combination: UsageCombination): Sums {
    const key = `${hour}${combination.id}`;
    let sums = this.#sums.get(key);
    if (sums === undefined) {
      sums = { combination, startAt: `${hour}:00:00Z`, events: 0, quantities: [], amounts: [] };
      this.#sums.set(key, sums);
    }
    return sums;
  }

  /** Writes the deltas to be merged into the totals, in the transaction that writes the charges. */
  write(trx: Knex.Transaction, tenantId: string): Promise<void> {
    return writeTogether(trx, this.writing(trx, tenantId));
  }

  /** The statements that do so. */
  *writing(trx: Knex.Transaction, tenantId: string): Iterable<BulkStatement | null> {
    const sums = [...this.#sums.values()];
    const combinations = new Map(sums.map(({ combination }) => [combination.id, combination]));
    yield* insertingMissingCombinations(trx, tenantId, combinations.values());
    yield insertingUsageChange(
      tenantId,
      sums.map(({ combination, startAt, events, quantities, amounts }) => ({
        combinationId: combination.id,
        startAt,
        events,
        quantities: quantities.map(decimalText),
        amounts: amounts.map(decimalText),
      })),
    );
  }
}

function addAt(
  { quantities, amounts }: Sums,
  position: number,
  quantity: Decimal,
  amount: Decimal,
): void {
  quantities[position] = quantities[position]?.plus(quantity) ?? new Exact(quantity);
  amounts[position] = amounts[position]?.plus(amount) ?? new Exact(amount);
}

type Charges = RatedOutcome['rated']['transactions'];

/** Combinations of single charges with one priced row: most events have such a charge. */
const simple = new LRUCache<string, UsageCombination>({ max: 20_000 });

function combinationOfRated(prepared: ChargedFacts, charges: Charges): UsageCombination {
  const [charge, ...others] = charges;
  const row = charge?.dimensions.length === 1 ? charge.dimensions[0] : undefined;
  if (!charge || !row || others.length > 0) return combinationOf(partsOf(prepared, charges));
  const { plan, owner } = prepared;
  // The plan says the service and the currency.
  const line = owner.line?.contractId ?? '';
  const key = `${StoredRatingPlan.idOf(plan)}/${line}/${charge.billedAccountId}/${charge.usageType}/${row.attributeName}`;
  let combination = simple.get(key);
  if (combination === undefined) {
    combination = combinationOf(partsOf(prepared, charges));
    simple.set(key, combination);
  }
  return combination;
}

function partsOfStored(charge: RatedTransaction): CombinationPart[] {
  const { accountId, contractId, serviceId, usageType, currency, dimensions } = charge;
  const of = { accountId, contractId, serviceId, usageType, currency };
  return [
    { ...of, attributeName: null, hasRows: dimensions.length > 0 },
    ...dimensions.map(({ dimensionName }) => ({
      ...of,
      attributeName: dimensionName,
      hasRows: false,
    })),
  ];
}

function partsOf({ event, owner }: ChargedFacts, charges: Charges): CombinationPart[] {
  const contractId = owner.line?.contractId ?? null;
  const { serviceId } = event;
  return charges.flatMap(({ billedAccountId, usageType, currency, dimensions }) => {
    const charge = { accountId: billedAccountId, contractId, serviceId, usageType, currency };
    return [
      { ...charge, attributeName: null, hasRows: dimensions.length > 0 },
      ...dimensions.map(({ attributeName }) => ({ ...charge, attributeName, hasRows: false })),
    ];
  });
}
