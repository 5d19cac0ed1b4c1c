import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type { Scope } from '../../kernel/scope.js';
import {
  PaymentApplication,
  type PaymentOfInvoice,
} from '../../models/payments/payment-application.js';
import { Payment } from '../../models/payments/payment.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { applyToInvoices } from '../billing/invoice-event.js';
import {
  lockOpenInvoices,
  paidMax,
  roomAfter,
  type OpenBook,
  type OpenInvoice,
} from './open-invoices.js';
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
  const books = booksOf(freed);
  const open = await lockOpenInvoices(trx, tenantId, books);
  const ids = freed.map(({ id }) => id);
  const paid = await PaymentApplication.countByPayment(trx, tenantId, ids);
  const room = new Map(ids.map((id) => [id, roomAfter(paid.get(id) ?? 0)]));
  const applications = books.flatMap(({ payments }, index) =>
    divide(payments, open[index] ?? [], room),
  );
  if (applications.length === 0) return;
  // First: what is applied bounds `freed` by the balance, which is less by then.
  await PaymentApplication.use(trx, tenantId, applications);
  await applyToInvoices(scope, trx, applications);
}

/**
 * The payments with a released amount that have money, the oldest first; of each account, currency and kind as
 * many as pay at once, so that those for which nothing is open keep no others waiting.
 */
async function lockFreed(
  trx: Knex.Transaction,
  tenantId: string,
  accountIds: readonly string[],
): Promise<Payment[]> {
  const oldest = await sqlRows<{ id: string }>(
    trx,
    `select id from (
       select id, row_number() over (
         partition by account_id, currency, payment_type = 'Pay Out' order by payment_date, id
       ) as place
       from payment where tenant_id = :tenantId and account_id = any(:accountIds::uuid[])
         and freed > 0 and balance > 0 and deleted_at is null
         and payment_status = 'Completed' and approval_status = 'Approved'
         and payment_method is distinct from 'Wallet' and top_up_wallet_id is null
     ) as freed where place <= :limit`,
    { tenantId, accountIds, limit: paidMax.atOnce },
  );
  if (oldest.length === 0) return [];
  const payments = await Payment.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereRaw('id = any(?::uuid[])', [arrayLiteral(oldest.map(({ id }) => id))])
    .whereRaw('account_id = any(?::uuid[])', [arrayLiteral(accountIds)])
    .where('freed', '>', 0)
    .where('balance', '>', 0)
    .orderBy('id')
    .forUpdate();
  return payments.filter(hasMoney).sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

const sortKey = ({ paymentDate, id }: Payment): string => `${paymentDate}/${id}`;

interface FreedBook extends OpenBook {
  readonly payments: readonly Payment[];
}

const freedOf = ({ freed, balance }: Payment): Decimal => Decimal.min(freed, balance);

/** The payments by what they may pay, in their order. */
function booksOf(freed: readonly Payment[]): FreedBook[] {
  const byName = new Map<string, Payment[]>();
  for (const payment of freed) {
    const { accountId, currency } = payment;
    const name = `${accountId}/${currency}/${invoiceTypeOf(payment)}`;
    const payments = byName.get(name) ?? [];
    payments.push(payment);
    byName.set(name, payments);
  }
  return [...byName.values()].map((payments) => {
    const [first] = payments as [Payment];
    const { accountId, currency } = first;
    const amount = payments.reduce((sum, payment) => sum.plus(freedOf(payment)), ZERO);
    return {
      accountId,
      currency,
      invoiceType: invoiceTypeOf(first),
      amount,
      payments,
      most: paidMax.atOnce,
    };
  });
}

/**
 * Distributes payments, one after the other, over the invoices in order, until either are used up; each pays
 * as many as it has room for.
 */
function divide(
  payments: readonly Payment[],
  open: readonly OpenInvoice[],
  room: ReadonlyMap<string, number>,
): PaymentOfInvoice[] {
  const applications: PaymentOfInvoice[] = [];
  const invoices = open.values();
  let invoice = invoices.next();
  let rest = new Decimal(invoice.value?.balance ?? 0);
  for (const payment of payments) {
    let left = freedOf(payment);
    const end = applications.length + (room.get(payment.id) ?? 0);
    while (!left.isZero() && invoice.done !== true && applications.length < end) {
      const amount = Decimal.min(left, rest);
      applications.push({ paymentId: payment.id, invoiceId: invoice.value.id, amount });
      left = left.minus(amount);
      rest = rest.minus(amount);
      if (!rest.isZero()) continue;
      invoice = invoices.next();
      rest = new Decimal(invoice.value?.balance ?? 0);
    }
  }
  return applications;
}
