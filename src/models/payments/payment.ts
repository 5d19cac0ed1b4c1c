import type { Columns } from '../../schemas/fields/columns.js';
import type * as schema from '../../schemas/payments/payment.js';
import { ApprovableRecord } from '../db/tenant-model.js';

export interface Payment extends Columns<typeof schema.Payment> {}
/** Money that came in from an account or went out to it. */
export class Payment extends ApprovableRecord {
  static override tableName = 'payment';

  /**
   * The part of the balance that voided invoices released: it pays open invoices or the next ones
   * (docs/decisions/0240). Decimal text.
   */
  declare freed: string;
  /** The wallet that it tops up. */
  declare topUpWalletId: string | null;
}
