import { BillingRecord } from '../db/tenant-model.js';

export class Address extends BillingRecord {
  static override tableName = 'address';

  declare accountId: string;
  declare position: number;
  declare line1: string;
  declare line2: string | null;
  declare city: string | null;
  declare state: string | null;
  declare zipCode: string | null;
  declare country: string | null;
  declare taxId: string | null;
}
