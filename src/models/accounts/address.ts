import type { Columns } from '../../schemas/fields/columns.js';
import type * as schema from '../../schemas/accounts/account.js';
import { BillingRecord } from '../db/tenant-model.js';

export interface Address extends Columns<typeof schema.Address> {}
export class Address extends BillingRecord {
  static override tableName = 'address';

  declare position: number;
}
