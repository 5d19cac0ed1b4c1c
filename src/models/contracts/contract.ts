import { ApprovableRecord } from '../db/tenant-model.js';

/** An agreement with an account; what is sold under it are its lines, the contract services. */
export class Contract extends ApprovableRecord {
  static override tableName = 'contract';

  declare name: string | null;
  declare number: string;
  /** First day of the contract, inclusive. */
  declare startDate: string | null;
  /** Last day of the contract, inclusive. */
  declare endDate: string | null;
  /** ISO code. */
  declare currency: string | null;
  declare masterAccountId: string;
  declare poNumber: string | null;
  /** Decimal text. */
  declare totalPrice: string | null;
  declare description: string | null;
  declare approvedBy: string | null;
  declare approvedAt: Date | null;
}
