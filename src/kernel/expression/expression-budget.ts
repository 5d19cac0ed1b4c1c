import { CostFault, ExpressionFault } from './expression-fault.js';
import { insideOf, weigh } from './expression-value.js';

/** What an evaluation may still cost, and what of it was spent beside that. */
interface Budget {
  left: number;
  looked: number;
  /** What functions took apart of what they looked through. */
  parted: number;
  /** Of the values at hand. */
  readonly kibibytes: number;
  isSpent: boolean;
}

/** The budget of the evaluation that is under way: evaluation is synchronous. */
let budget: Budget = { left: 0, looked: 0, parted: 0, kibibytes: 1, isSpent: false };

/** An evaluation begins. */
export function openBudget(own: Budget): void {
  budget = own;
}

function charge(cost: number): void {
  budget.left -= cost;
  if (budget.left >= 0) return;
  budget.isSpent = true;
  throw new CostFault();
}

/** Names that the library leaves out of maps, without a word. */
export const lostNames = new Set(['__proto__', 'constructor', 'prototype']);

type Charge = (value: unknown) => unknown;

/** Called for each list before it is visited: what it will cost is known by its length. */
export function chargeList(list: unknown, perElement: bigint, growingParts: bigint): unknown {
  const size = insideOf(list ?? {}).length;
  charge(size * (Number(perElement) + Number(growingParts) * budget.kibibytes));
  return list;
}

/** Called for each value that a list is built of. */
export function chargeValue(value: unknown): unknown {
  charge(weigh(value, budget.left).weight);
  return value;
}

/** What is looked through has a budget of its own: it says when others have a turn as little as it did. */
function chargeLook(cost: number): void {
  budget.looked -= cost;
  if (budget.looked >= 0) return;
  budget.isSpent = true;
  throw new CostFault();
}

/** Called for what a function looks through, and for what was put together: a text costs by its length. */
export function chargeText(value: unknown): unknown {
  if (typeof value === 'string') chargeLook(value.length >> 5);
  return value;
}

/**
 * Called for what a function takes apart, which takes longer than to look through it. It counts for the task
 * alone: an expression has its budget as it was.
 */
const chargeParts =
  (charactersOfUnit: number) =>
  (value: unknown): unknown => {
    if (typeof value === 'string') budget.parted += Math.ceil(value.length / charactersOfUnit);
    return chargeText(value);
  };

/** Functions that take apart what they look through, with what counts that. */
export const taking: Readonly<Record<string, { readonly name: string; readonly charge: Charge }>> =
  {
    // A text of each part is made.
    split: { name: 'chargedSplit', charge: chargeParts(4) },
    // Characters may be two units of the text.
    size: { name: 'chargedSize', charge: chargeParts(16) },
  };

/** Characters of a text that is looked for in others, above which each of them costs more. */
const soughtMax = 64;

/** Called for a text that is looked for in another one, which may be all that there is: each with each. */
function chargeSought(sought: unknown): unknown {
  if (typeof sought === 'string' && sought.length > soughtMax) {
    chargeLook(Math.ceil((budget.kibibytes * sought.length) / 2));
  }
  return sought;
}

/** A text that would be written, or read, more often than its length says. */
const shortText =
  (what: string, most: number) =>
  (text: unknown): unknown => {
    if (typeof text !== 'string' || text.length <= most) return text;
    throw new ExpressionFault(`${what} has at most ${most} characters.`);
  };

const sought = { name: 'chargedSought', charge: chargeSought };

/** What functions do with their first argument in brackets, with what counts or bounds that. */
export const givenTo: Readonly<Record<string, { readonly name: string; readonly charge: Charge }>> =
  {
    contains: sought,
    indexOf: sought,
    lastIndexOf: sought,
    split: sought,
    join: { name: 'shortSeparator', charge: shortText('What stands between texts', 64) },
    // The library reads it by a pattern that looks at it again from each of its places.
    duration: { name: 'shortDuration', charge: shortText('A duration', 64) },
  };

/** Called for what is compared as a whole. */
export function chargeCompared(value: unknown): unknown {
  chargeLook(weigh(value, budget.looked).weight);
  return value;
}

/** Called for each name of a map that is not known before. */
export function keptName(name: unknown): unknown {
  if (!lostNames.has(String(name))) return name;
  throw new ExpressionFault(`'${String(name)}' cannot be a name in a map.`);
}
