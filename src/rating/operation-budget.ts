import { Rejection } from './rejection.js';

/**
 * What rating one event may cost, in operations of about half a microsecond: an addition is one, a
 * product of 60 digits ten, a division twelve, `Price()` four and three for each tier of its row, a
 * choice among rows one for sixteen compared values. All of it takes less than 50 ms on a slow machine
 * (docs/decisions/0185-what-a-formula-may-cost.md).
 */
export const eventOperationsMax = 20_000;

/**
 * What the events of one call may cost together: of a simulation, of a transaction that rates, of a page
 * of a retry. It is about a second of one processor.
 */
export const callOperationsMax = 2_000_000;

/** Charges that were rated before there was a budget are explained and audited with this one. */
export const recomputeOperationsMax = 4 * eventOperationsMax;

export const additionCost = 1;
export const divisionCost = 12;
/** A number of 60 digits has at most ten groups of seven digits, each multiplied with each. */
export const productCostMax = 10;
export const nameCost = 1;
export const stepCost = 1;
export const priceCost = 4;
export const tierCost = 3;
/** What an account bears of one amount of an event, where several do: dividing it, and writing the row. */
export const partCost = 4;
/** Comparisons of a row's attribute values with those of an event that make one operation. */
export const comparisonsOfOperation = 16;

/** What a product of numbers of so many groups of digits costs. */
export const productCost = (left: number, right: number): number => 1 + ((left * right * 3) >> 5);

/** Counts the operations of one event, and refuses it where they are too many. */
export class Spending {
  readonly max: number;
  #spent: number;

  constructor(max: number, spent = 0) {
    this.max = max;
    this.#spent = spent;
  }

  get spent(): number {
    return this.#spent;
  }

  spend(operations: number): void {
    this.#spent += operations;
    if (this.#spent > this.max) {
      throw new Rejection(
        'FORMULA_TOO_EXPENSIVE',
        `Rating this event takes more than ${this.max} operations: the formulas of its service, the ` +
          'tiers that they price and the rows that they choose from are too many together',
      );
    }
  }
}
