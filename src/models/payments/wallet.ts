import { BillingRecord } from '../db/tenant-model.js';

/** Money or units that an account holds in advance. */
export class Wallet extends BillingRecord {
  static override tableName = 'wallet';

  declare title: string;
  declare accountId: string;
  /** ISO code. */
  declare currency: string | null;
  declare unit: string | null;
  /** Balances and amounts are decimal text. */
  declare balance: string;
  declare availableBalance: string;
  declare reservedBalance: string;
  declare frozenAmount: string;
  declare isActive: boolean;
  declare approvalStatus: string;
  declare customerId: string | null;
  declare enableDisableTopUp: boolean;
  declare thresholdTopUpAmount: string;
  declare autoTopUpAmount: string;
}
