import { Decimal } from '../../../kernel/numbers/money.js';
import { dayBefore } from '../../../kernel/time/date.js';
import type { AdjustmentCharge } from '../../../models/billing/adjustments/adjustment-charge.js';

/** What a maximum, minimum or commitment made of a period, as an invoice explains it. */
export const explainAdjustment = (charge: AdjustmentCharge) => ({
  adjustmentId: charge.adjustmentId,
  kind: charge.kind,
  value: new Decimal(charge.value),
  periodStart: charge.periodStart,
  periodEnd: dayBefore(charge.periodEnd),
  spent: new Decimal(charge.spent),
  amount: new Decimal(charge.amount),
});
