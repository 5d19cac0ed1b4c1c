import { daysFrom } from '../../kernel/time/date.js';
import { Decimal, decimalText, roundAmount } from '../../kernel/numbers/money.js';
import {
  explainDiscounts,
  type ExplainedAdjustment,
  type ExplainedRow,
  type ExplainedStep,
  type Explanation,
} from '../explain-charge.js';
import { discountSteps } from '../stages/adjust.js';
import type { PlanDiscount } from '../types.js';

/** What a recurring charge keeps of its days and of what it prices. */
export interface ChargedDays {
  /** Name of the attribute or of the pricing logic. */
  readonly name: string;
  readonly amount: string;
  readonly currency: string;
  readonly isProrated: boolean;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly billStartDate: string;
  readonly billEndDate: string;
}

/** Days that are charged of the days of their period: 16 of 31. */
export interface Proration {
  readonly days: number;
  readonly of: number;
  /** As people read it: "16 of 31 days". */
  readonly text: string;
}

/** How much of its period a charge is for; null when it is for the whole, or costs the whole. */
export function prorationOf(
  charge: Omit<ChargedDays, 'name' | 'amount' | 'currency'>,
): Proration | null {
  if (!charge.isProrated) return null;
  const days = daysFrom(charge.billStartDate, charge.billEndDate);
  return prorationFrom(days, daysFrom(charge.periodStart, charge.periodEnd));
}

export const prorationFrom = (days: number, of: number): Proration => ({
  days,
  of,
  text: `${days} of ${of} days`,
});

/**
 * The explanation of a line's price as that of one charge of it: only its row or pricing logic, and,
 * where a part of the period is charged, the days as the last step.
 */
export function explainRecurringCharge(whole: Explanation, charge: ChargedDays): Explanation {
  const { name, currency } = charge;
  const isComputed = whole.total.method === 'sum of pricing logic';
  const steps = isComputed ? whole.steps.filter(({ logic }) => logic === name) : [];
  const stepNames = new Set(steps.map((step) => step.name));
  const isOwn = ({ row, step }: ExplainedRow): boolean =>
    isComputed ? step !== null && stepNames.has(step) : row.attributeName === name;
  const rows = whole.rows.filter(isOwn);
  const parts = isComputed
    ? whole.total.parts.filter((part) => part.name.startsWith(`${name}: `))
    : rows.map(({ row, amount }) => ({ name: row.label, amount }));
  const proration = prorationOf(charge);
  const price = parts.reduce((sum, { amount }) => sum.plus(amount), new Decimal(0));
  const prorated = proration ? price.times(proration.days).div(proration.of) : price;
  const { adjustments } = whole;
  const charged = roundAmount(prorated);
  const discounts = adjustments && explainDiscounts(discountSteps(charged, planOf(adjustments)));
  const net = discounts?.at(-1)?.after ?? decimalText(charged);
  const amount = whole.share || adjustments ? decimalText(charged) : charge.amount;
  return {
    ...whole,
    ...(whole.share ? { share: { ...whole.share, whole: net } } : {}),
    ...(discounts ? { adjustments: discounts } : {}),
    rows,
    steps: proration ? [...steps, prorationStep(proration, price, amount)] : steps,
    total: {
      method: whole.total.method,
      parts,
      amount: decimalText(new Decimal(charge.amount)),
      currency,
    },
  };
}

const planOf = (adjustments: readonly ExplainedAdjustment[]): PlanDiscount[] =>
  adjustments.map(({ adjustmentId: id, kind, value }) => ({ id, kind, value }));

const prorationStep = (
  { days, of, text }: Proration,
  price: Decimal,
  amount: string,
): ExplainedStep => ({
  logic: 'Proration',
  name: 'proration',
  label: text,
  formula: `${decimalText(price)} * ${days} / ${of}`,
  value: decimalText(new Decimal(amount)),
});
