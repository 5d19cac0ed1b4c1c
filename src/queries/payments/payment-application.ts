import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../../kernel/numbers/money.js';
import { eachInPortions } from '../../kernel/portions.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type * as schema from '../../schemas/payments/payment-application.js';
import { missingPayment, readPayments } from './payment.js';
import { sqlRows } from '../../models/db/sql-rows.js';

export type AppliedPaymentDto = Static<typeof schema.AppliedPayment>;

interface AppliedRow {
  readonly paymentId: string;
  readonly invoiceId: string;
  readonly amount: string;
}

interface InvoiceRow {
  readonly id: string;
  readonly invoiceNo: string;
  readonly balance: string;
  readonly paymentStatus: string;
}

/**
 * Payments with the invoices that they pay, in the order in which they were applied. Each table is read once: of
 * a tenant that the statistics do not know yet, joining them is planned as if it had none (docs/decisions/0498).
 */
export async function readAppliedPayments(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<AppliedPaymentDto[]> {
  const payments = await readPayments(db, tenantId, ids);
  const applied = await sqlRows<AppliedRow>(
    db,
    `select payment_id as "paymentId", invoice_id as "invoiceId", amount from payment_application
     where tenant_id = ? and payment_id = any(?::uuid[]) order by created_at, id`,
    [tenantId, arrayLiteral(ids)],
  );
  const invoices = await sqlRows<InvoiceRow>(
    db,
    `select id, invoice_no as "invoiceNo", balance, payment_status as "paymentStatus" from invoice
     where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, arrayLiteral([...new Set(applied.map(({ invoiceId }) => invoiceId))])],
  );
  const byId = new Map(invoices.map((invoice) => [invoice.id, invoice]));
  const paid = new Map<string, AppliedPaymentDto['invoices']>();
  await eachInPortions(applied, ({ paymentId, invoiceId, amount }) => {
    const invoice = byId.get(invoiceId);
    if (!invoice) return;
    const of = paid.get(paymentId) ?? [];
    if (of.length === 0) paid.set(paymentId, of);
    of.push({
      invoiceId,
      invoiceNo: invoice.invoiceNo,
      amount: new Decimal(amount),
      invoiceBalance: new Decimal(invoice.balance),
      invoicePaymentStatus: invoice.paymentStatus,
    });
  });
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
