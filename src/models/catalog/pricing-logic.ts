import type * as schema from '../../schemas/catalog/pricing-logic.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { BillingRecord } from '../db/tenant-model.js';

/** A step of a pricing logic, as it is stored. */
export interface StoredStep {
  readonly name: string;
  readonly label?: string | null;
  readonly formula: string;
}

export interface PricingLogic extends Columns<typeof schema.PricingLogic, 'steps'> {}
/** Ordered formula steps that turn the values of a rate card into a charge. */
export class PricingLogic extends BillingRecord {
  static override tableName = 'pricing_logic';
  static override jsonAttributes = ['steps'];

  declare serviceId: string;
  declare steps: StoredStep[];
}
