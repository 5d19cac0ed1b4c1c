import { BillingRecord } from '../db/tenant-model.js';

/** How charges of a tax code are taxed. */
export class TaxRate extends BillingRecord {
  static override tableName = 'tax_rate';

  declare code: string;
  declare name: string | null;
  /** Percent, decimal text. */
  declare rate: string;
}
