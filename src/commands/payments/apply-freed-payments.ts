import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type { Scope } from '../../kernel/scope.js';
import { Invoice } from '../../models/billing/invoice.js';
import {
  PaymentApplication,
  type PaymentOfInvoice,
} from '../../models/payments/payment-application.js';
import { Payment } from '../../models/payments/payment.js';
import { applyToInvoices } from '../billing/invoice-event.js';
import { hasMoney, invoiceTypeOf } from './settle-payment.js';

/**
 * Applies the amounts of payments that voided invoices have released to open invoices of the
 * accounts, the oldest due date first (docs/decisions/0240). The caller holds the accounts.
 */
export async function applyFreedPayments(
  scope: Scope,
  trx: Knex.Transaction,
  accountIds: readonly string[],
): Promise<void> {
  const { tenantId } = scope;
  const freed = await lockFreed(trx, tenantId, accountIds);
  if (freed.length === 0) return;
  const open = await lockOpen(trx, tenantId, [...new Set(freed.map((one) => one.accountId))]);
  const applications = divide(freed, open);
  if (applications.length === 0) return;
  await applyToInvoices(scope, trx, applications);
  await PaymentApplication.use(trx, tenantId, applications);
}

/** The payments with a released amount, the oldest first. */
async function lockFreed(
  trx: Knex.Transaction,
  tenantId: string,
  accountIds: readonly string[],
): Promise<Payment[]> {
  const payments = await Payment.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereRaw('account_id = any(?::uuid[])', [arrayLiteral(accountIds)])
    .where('freed', '>', 0)
    .where('balance', '>', 0)
    .orderBy('id')
    .forUpdate();
  return payments.filter(hasMoney).sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

const sortKey = ({ paymentDate, id }: Payment): string => `${paymentDate}/${id}`;

function lockOpen(
  trx: Knex.Transaction,
  tenantId: string,
  accountIds: readonly string[],
): Promise<Invoice[]> {
  return Invoice.query(trx)
    .forTenant(tenantId)
    .whereRaw('account_id = any(?::uuid[])', [arrayLiteral(accountIds)])
    .where({ invoiceStatus: 'Posted' })
    .where('balance', '>', 0)
    .orderBy(['dueDate', 'invoiceDate', 'id'])
    .forUpdate()
    .execute();
}

const bookOf = (accountId: string, currency: string, invoiceType: string): string =>
  `${accountId}/${currency}/${invoiceType}`;

/** Distributes the payments, one after the other, over the invoices of their account. */
function divide(payments: readonly Payment[], invoices: readonly Invoice[]): PaymentOfInvoice[] {
  const leftOf = new Map(invoices.map(({ id, balance }) => [id, new Decimal(balance)]));
  const books = new Map<string, string[]>();
  for (const { id, accountId, currency, invoiceType } of invoices) {
    const book = bookOf(accountId, currency, invoiceType);
    books.set(book, [...(books.get(book) ?? []), id]);
  }
  return payments.flatMap((payment) => {
    const { id: paymentId, accountId, currency } = payment;
    let left = Decimal.min(payment.freed, payment.balance);
    const open = books.get(bookOf(accountId, currency, invoiceTypeOf(payment))) ?? [];
    return open.flatMap((invoiceId) => {
      const before = leftOf.get(invoiceId) ?? ZERO;
      const amount = Decimal.min(left, before);
      if (amount.isZero()) return [];
      left = left.minus(amount);
      leftOf.set(invoiceId, before.minus(amount));
      return [{ paymentId, invoiceId, amount }];
    });
  });
}
