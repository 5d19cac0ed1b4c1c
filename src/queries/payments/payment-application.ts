import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../../kernel/numbers/money.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type * as schema from '../../schemas/payments/payment-application.js';
import { missingPayment, readPayments } from './payment.js';
import { sqlRows } from '../../models/db/sql-rows.js';

export type AppliedPaymentDto = Static<typeof schema.AppliedPayment>;

interface PaidRow {
  readonly paymentId: string;
  readonly invoiceId: string;
  readonly invoiceNo: string;
  readonly amount: string;
  readonly invoiceBalance: string;
  readonly invoicePaymentStatus: string;
}

/** Payments with the invoices that they pay, in the order in which they were applied. */
export async function readAppliedPayments(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<AppliedPaymentDto[]> {
  const payments = await readPayments(db, tenantId, ids);
  const rows = await sqlRows<PaidRow>(
    db,
    `select one.payment_id as "paymentId", invoice.id as "invoiceId",
       invoice.invoice_no as "invoiceNo", one.amount,
       invoice.balance as "invoiceBalance", invoice.payment_status as "invoicePaymentStatus"
     from payment_application as one join invoice
       on invoice.tenant_id = one.tenant_id and invoice.id = one.invoice_id
     where one.tenant_id = ? and one.payment_id = any(?::uuid[])
     order by one.created_at, one.id`,
    [tenantId, arrayLiteral(ids)],
  );
  const paid = new Map<string, AppliedPaymentDto['invoices']>();
  for (const { paymentId, amount, invoiceBalance, ...invoice } of rows) {
    const of = paid.get(paymentId) ?? [];
    if (of.length === 0) paid.set(paymentId, of);
    of.push({
      ...invoice,
      amount: new Decimal(amount),
      invoiceBalance: new Decimal(invoiceBalance),
    });
  }
  return payments.map((payment) => ({ ...payment, invoices: paid.get(payment.id) ?? [] }));
}

/** A payment with the invoices that it pays. 404: there is none. */
export async function readAppliedPayment(
  db: Knex,
  tenantId: string,
  id: string,
): Promise<AppliedPaymentDto> {
  const [payment] = await readAppliedPayments(db, tenantId, [id]);
  if (!payment) throw missingPayment(id);
  return payment;
}
