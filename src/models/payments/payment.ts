import { ApprovableRecord } from '../db/tenant-model.js';

/** Money that came in from an account or went out to it. */
export class Payment extends ApprovableRecord {
  static override tableName = 'payment';

  declare accountId: string;
  /** ISO code. */
  declare currency: string;
  /** Decimal text. */
  declare amount: string;
  /** The part of the amount that is not applied to invoices; decimal text. */
  declare balance: string;
  /**
   * The part of the balance that voided invoices released: it pays open invoices or the next ones
   * (docs/decisions/0240).
   */
  declare freed: string;
  declare paymentReference: string;
  declare paymentMethod: string;
  declare paymentType: string;
  declare paymentDate: string;
  declare paymentStatus: string;
  declare balanceStatus: string;
  declare glPaymentDate: string | null;
  declare paymentGlStatus: string;
  declare isManualPayment: boolean;
  declare comments: string | null;
  declare participantName: string | null;
}
