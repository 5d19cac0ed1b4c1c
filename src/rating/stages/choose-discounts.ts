import type { RecurringRequest } from '../recurring/recurring-charge.js';
import type { DiscountFacts, PlanDiscount } from '../types.js';

/** Whose charge it is, for what and of which day. */
export interface DiscountedCharge {
  readonly accountId: string;
  readonly contractId: string | null;
  readonly lineageId: string | null;
  readonly serviceId: string;
  readonly currency: string;
  readonly date: string;
}

const none: readonly PlanDiscount[] = [];

/** The discounts that are in force for a charge, in their order: percents, then amounts. */
export function chooseDiscounts(
  adjustments: readonly DiscountFacts[],
  charge: DiscountedCharge,
): readonly PlanDiscount[] {
  const chosen = adjustments.filter((discount) => isInForce(discount, charge));
  if (chosen.length === 0) return none;
  return chosen.sort(byOrder).map(({ id, kind, value }) => ({ id, kind, value }));
}

/** The discounts of a charge for a period of a line: those in force on the first day that it charges. */
export function discountsOfPeriod(
  { account, line, service, billed }: RecurringRequest,
  currency: string,
): readonly PlanDiscount[] {
  if (!line.adjustments) return none;
  return chooseDiscounts(line.adjustments, {
    accountId: account.id,
    contractId: line.contractId,
    lineageId: line.lineageId,
    serviceId: service.id,
    currency,
    date: billed.first,
  });
}

function isInForce(
  { currency, scope, scopeId, serviceId, from, to }: DiscountFacts,
  charge: DiscountedCharge,
): boolean {
  const owner = {
    account: charge.accountId,
    contract: charge.contractId,
    line: charge.lineageId,
  }[scope];
  return (
    scopeId === owner &&
    (currency === null || currency === charge.currency) &&
    (serviceId === null || serviceId === charge.serviceId) &&
    from <= charge.date &&
    (to === null || charge.date < to)
  );
}

/** The discounts of a plan with more of them, in their order. */
export const withDiscounts = (
  discounts: readonly PlanDiscount[],
  more: readonly PlanDiscount[],
): readonly PlanDiscount[] => [...discounts, ...more].sort(byOrder);

/** One order for all: the same discounts give the same plan. */
function byOrder(a: PlanDiscount, b: PlanDiscount): number {
  if (a.kind !== b.kind) return a.kind === 'discountPercent' ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
