import { BillingRecord } from '../db/tenant-model.js';

/** A step of a pricing logic, as it is stored. */
export interface StoredStep {
  readonly name: string;
  readonly label?: string | null;
  readonly formula: string;
}

/** Ordered formula steps that turn the values of a rate card into a charge. */
export class PricingLogic extends BillingRecord {
  static override tableName = 'pricing_logic';
  static override jsonAttributes = ['steps'];

  declare serviceId: string;
  declare seqNo: number;
  declare name: string;
  declare priceOutput: string;
  declare transactionDimension: string;
  declare usageType: string;
  declare chargeType: string | null;
  declare steps: StoredStep[];
}
