import type { Columns } from '../../schemas/fields/columns.js';
import type * as schema from '../../schemas/payments/wallet.js';
import { BillingRecord } from '../db/tenant-model.js';

export interface Wallet extends Columns<typeof schema.Wallet> {}
/** Money or units that an account holds in advance. */
export class Wallet extends BillingRecord {
  static override tableName = 'wallet';
}
