import type * as schema from '../../schemas/billing/tax-rate.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { BillingRecord } from '../db/tenant-model.js';

export interface TaxRate extends Columns<typeof schema.TaxRate> {}
/** How charges of a tax code are taxed. */
export class TaxRate extends BillingRecord {
  static override tableName = 'tax_rate';
}
