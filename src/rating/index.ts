/** The rating engine: pure, without clock, database or environment (docs/spec/rating.md). */
export { counterKey } from './counter-key.js';
export {
  explain,
  type Explained,
  type ExplainedCredit,
  type ExplainedRow,
  type ExplainedStep,
  type Explanation,
} from './explain-charge.js';
export {
  findLogicProblems,
  type LogicProblem,
  type LogicToValidate,
} from './formula/validate-logic.js';
export { compileInPieces, isCompiled } from './compile-plan.js';
export {
  findIdleRows,
  type CheckedCard,
  type CheckedRow,
  type IdleRow,
} from './formula/idle-rows.js';
export {
  chargedFacts,
  choosePlan,
  prepare,
  prepareFromPlan,
  type ChargedFacts,
  type Prepared,
} from './prepare-event.js';
export { findPriceMethod, priceMethods, type PriceMethodName } from './price-methods/index.js';
export { readStoredRates } from './price-methods/stored-rates.js';
export { ratePrepared } from './pipeline.js';
export { adjustPeriod, periodKinds, type PeriodKind } from './stages/adjust-period.js';
export { chooseDiscounts, withDiscounts } from './stages/choose-discounts.js';
export { byUse, freeOf, payWith, type CreditPart } from './stages/credit-from-grants.js';
export {
  hasRecurring,
  priceRecurring,
  recurringEvent,
  type RecurringLine,
  type RecurringPart,
  type RecurringResult,
  type RecurringService,
  type RecurringType,
} from './recurring/recurring-charge.js';
export {
  explainRecurringCharge,
  prorationFrom,
  prorationOf,
  type Proration,
} from './recurring/recurring-explanation.js';
export {
  callOperationsMax,
  eventOperationsMax,
  recomputeOperationsMax,
  Spending,
} from './operation-budget.js';
export { readInstant } from './read-instant.js';
export { readUsageEvent } from './usage-event.js';
export { aggregations, rejectionCodes } from './types.js';
export type * from './types.js';
