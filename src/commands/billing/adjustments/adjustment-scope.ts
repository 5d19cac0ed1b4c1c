import type { Adjustment } from '../../../models/billing/adjustments/adjustment.js';

/** An adjustment as its columns. */
export type AdjustmentColumns = Pick<
  Adjustment,
  | 'accountId'
  | 'contractId'
  | 'contractServiceId'
  | 'kind'
  | 'value'
  | 'currency'
  | 'serviceId'
  | 'period'
  | 'fromDate'
  | 'toDate'
>;

type AdjustmentScope = Pick<AdjustmentColumns, 'accountId' | 'contractId' | 'contractServiceId'>;

/** What an adjustment holds for: one of the three. */
export const scopeOf = ({
  accountId,
  contractId,
  contractServiceId,
}: AdjustmentScope): AdjustmentScope => ({ accountId, contractId, contractServiceId });
