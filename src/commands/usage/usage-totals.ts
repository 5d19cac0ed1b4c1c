import type { Knex } from 'knex';
import { Decimal, decimalText } from '../../kernel/numbers/money.js';
import {
  combinationOf,
  insertMissingCombinations,
  type CombinationPart,
  type UsageCombination,
} from '../../models/usage/usage-combination.js';
import { insertUsageChange } from '../../models/usage/usage-total.js';
import type { RatedOutcome } from '../../queries/usage/usage-rater.js';

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
  add({ prepared, rated }: Pick<RatedOutcome, 'prepared' | 'rated'>): void {
    const { event, owner } = prepared;
    const contractId = owner.line?.contractId ?? null;
    const parts: CombinationPart[] = [];
    const quantities: Decimal[] = [];
    const amounts: Decimal[] = [];
    for (const {
      billedAccountId,
      usageType,
      currency,
      quantity,
      amount,
      dimensions,
    } of rated.transactions) {
      const { serviceId } = event;
      const charge = { accountId: billedAccountId, contractId, serviceId, usageType, currency };
      parts.push({ ...charge, attributeName: null, hasRows: dimensions.length > 0 });
      quantities.push(new Exact(quantity));
      amounts.push(new Exact(amount));
      for (const { attributeName, volume, calcAmount } of dimensions) {
        parts.push({ ...charge, attributeName, hasRows: false });
        quantities.push(new Exact(volume));
        amounts.push(new Exact(calcAmount));
      }
    }
    const combination = combinationOf(parts);
    const startAt = `${event.timestamp.slice(0, 13)}:00:00Z`;
    const key = `${startAt}${combination.id}`;
    const known = this.#sums.get(key);
    if (known === undefined) {
      this.#sums.set(key, { combination, startAt, events: 1, quantities, amounts });
      return;
    }
    known.events += 1;
    addEach(known.quantities, quantities);
    addEach(known.amounts, amounts);
  }

  /** Writes the deltas to be merged into the totals, in the transaction that writes the charges. */
  async write(trx: Knex.Transaction, tenantId: string): Promise<void> {
    const sums = [...this.#sums.values()];
    const combinations = new Map(sums.map(({ combination }) => [combination.id, combination]));
    await insertMissingCombinations(trx, tenantId, combinations.values());
    await insertUsageChange(
      trx,
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

function addEach(sums: Decimal[], values: readonly Decimal[]): void {
  values.forEach((value, index) => {
    sums[index] = sums[index]?.plus(value) ?? value;
  });
}
