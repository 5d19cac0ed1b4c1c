import type { Knex } from 'knex';
import { Payment } from '../../models/payments/payment.js';
import { PaymentApplication } from '../../models/payments/payment-application.js';

/** Holds the payments of an invoice until the transaction ends. */
export async function lockPaymentsOf(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
): Promise<void> {
  const paying = PaymentApplication.query(trx)
    .forTenant(tenantId)
    .where({ invoiceId: id })
    .select('paymentId');
  await Payment.query(trx)
    .forTenant(tenantId)
    .whereIn('id', paying)
    .orderBy('id')
    .select('id')
    .forUpdate();
}
