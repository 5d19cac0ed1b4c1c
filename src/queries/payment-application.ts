import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../kernel/money.js';
import type * as schema from '../schemas/payment-application.js';
import { readPayment } from './payment.js';

export type AppliedPaymentDto = Static<typeof schema.AppliedPayment>;

interface PaidRow {
  readonly invoiceId: string;
  readonly invoiceNo: string;
  readonly amount: string;
  readonly invoiceBalance: string;
  readonly invoicePaymentStatus: string;
}

/** A payment with the invoices that it pays, in the order in which it was applied. 404: there is none. */
export async function readAppliedPayment(
  db: Knex,
  tenantId: string,
  id: string,
): Promise<AppliedPaymentDto> {
  const payment = await readPayment(db, tenantId, id);
  const { rows } = await db.raw<{ rows: PaidRow[] }>(
    `select invoice.id as "invoiceId", invoice.invoice_no as "invoiceNo", one.amount,
       invoice.balance as "invoiceBalance", invoice.payment_status as "invoicePaymentStatus"
     from payment_application as one join invoice
       on invoice.tenant_id = one.tenant_id and invoice.id = one.invoice_id
     where one.tenant_id = ? and one.payment_id = ? order by one.created_at, one.id`,
    [tenantId, id],
  );
  return {
    ...payment,
    invoices: rows.map(({ amount, invoiceBalance, ...invoice }) => ({
      ...invoice,
      amount: new Decimal(amount),
      invoiceBalance: new Decimal(invoiceBalance),
    })),
  };
}
