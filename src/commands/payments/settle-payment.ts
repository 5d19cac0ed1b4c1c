import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { Invoice } from '../../models/billing/invoice.js';
import {
  PaymentApplication,
  type Application,
  type PaymentOfInvoice,
} from '../../models/payments/payment-application.js';
import { Payment } from '../../models/payments/payment.js';
import { missingPayment, readPayment, type PaymentDto } from '../../queries/payments/payment.js';
import {
  readAppliedPayment,
  type AppliedPaymentDto,
} from '../../queries/payments/payment-application.js';
import type { ApplyPayment } from '../../schemas/payments/payment-application.js';
import { applyToInvoices } from '../billing/invoice-event.js';
import { amountText, requireMinorUnit } from '../rules/minor-unit.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import {
  lockInvoices,
  lockOpenInvoices,
  paidMax,
  roomAfter,
  type OpenInvoice,
} from './open-invoices.js';

/** Whether a payment pays invoices at all: money that has arrived, or left, and is approved. */
const isSettling = ({ paymentStatus, approvalStatus }: Payment): boolean =>
  paymentStatus === 'Completed' && approvalStatus === 'Approved';

/**
 * Whether the balance of a payment can pay invoices. A wallet payment, saved by an earlier release,
 * keeps its applications and pays nothing more, since no wallet provides the money
 * (docs/decisions/0240).
 */
export const hasMoney = (payment: Payment): boolean =>
  isSettling(payment) && payment.paymentMethod !== 'Wallet' && payment.topUpWalletId === null;

/** What came in pays invoices, what went out pays credit notes. */
export const invoiceTypeOf = ({ paymentType }: Payment): string =>
  paymentType === 'Pay Out' ? 'Credit Note' : 'Invoice';

/** Why no payment can be made by wallet. */
export const noWalletPayments =
  'Payments by wallet are not possible yet: nothing would be taken from the wallet. Save the ' +
  'payment with the method by which the money came, for example Bank Transfer.';

/** Those of some invoices that are open and that a payment may pay, held until the transaction ends. */
function lockOpenAmong(
  trx: Knex.Transaction,
  tenantId: string,
  payment: Payment,
  ids: readonly string[],
) {
  return Invoice.query(trx)
    .forTenant(tenantId)
    .findByIds([...new Set(ids)])
    .where({
      accountId: payment.accountId,
      currency: payment.currency,
      invoiceType: invoiceTypeOf(payment),
      invoiceStatus: 'Posted',
    })
    .where('balance', '>', 0)
    .orderBy(['dueDate', 'invoiceDate', 'id'])
    .forUpdate();
}

async function lockPayment(trx: Knex.Transaction, tenantId: string, id: string): Promise<Payment> {
  const payment = await Payment.query(trx).forTenant(tenantId).existing().findById(id).forUpdate();
  if (!payment) throw missingPayment(id);
  return payment;
}

/** What of a payment settling changes. */
type Settled = Pick<PaymentDto, 'balance' | 'balanceStatus'>;

/**
 * Adjusts the applications of payments that were just saved, one after the other; what became of those
 * that settling concerns, by their ids.
 */
export async function settlePayments(
  scope: Scope,
  ids: readonly string[],
): Promise<Map<string, Settled>> {
  return scope.db.transaction(async (trx) => {
    const concerned = await concernedOf(trx, scope.tenantId, ids);
    const settled = new Map<string, Settled>();
    for (const id of ids) {
      if (concerned.has(id)) settled.set(id, await settlePayment(within(scope, trx), id));
    }
    return settled;
  });
}

/**
 * Adjusts the applications of a payment (docs/decisions/0107): those that the amount no longer covers are
 * removed, and the balance is applied to open invoices of its account, the oldest due date first; of very many
 * to those that it may pay at once.
 */
async function settlePayment(scope: Scope, id: string): Promise<Settled> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const payment = await lockPayment(trx, tenantId, id);
    const most = roomAfter(await takeBack(trx, tenantId, payment));
    const { balance: left } = await readPayment(trx, tenantId, id);
    if (hasMoney(payment) && !left.isZero()) {
      const { accountId, currency } = payment;
      const invoiceType = invoiceTypeOf(payment);
      const book = { accountId, currency, invoiceType, amount: left, most };
      const [open = []] = await lockOpenInvoices(trx, tenantId, [book]);
      await applyToInvoices(scope, trx, ofPayment(id, divide(left, open)));
    }
    const { balance, balanceStatus } = await readPayment(trx, tenantId, id);
    return { balance, balanceStatus };
  });
}

/**
 * Those of some payments that have applications, or whose account has open invoices; of most accounts none.
 */
async function concernedOf(
  trx: Knex.Transaction,
  tenantId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await sqlRows<{ id: string }>(
    trx,
    `select payment.id from payment where payment.tenant_id = ? and payment.id = any(?::uuid[])
       and (exists (
         select from payment_application
         where payment_application.tenant_id = payment.tenant_id
           and payment_application.payment_id = payment.id
       ) or exists (
         select from invoice where invoice.tenant_id = payment.tenant_id
           and invoice.account_id = payment.account_id and invoice.balance <> 0
       ))`,
    [tenantId, ids],
    'what payments concern',
  );
  return new Set(rows.map(({ id }) => id));
}

/** Removes all applications of a payment that is deleted. */
export async function releasePayment(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
): Promise<void> {
  const applications = await applicationsOf(trx, tenantId, id);
  if (applications.length === 0) return;
  await lockInvoices(
    trx,
    tenantId,
    applications.map(({ invoiceId }) => invoiceId),
  );
  await PaymentApplication.remove(trx, tenantId, id, applications);
}

/** Applies the balance of a payment to the named invoices, or to the oldest due. */
export async function applyPayment(
  scope: Scope,
  id: string,
  { invoices }: ApplyPayment,
): Promise<AppliedPaymentDto> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const payment = await lockPayment(trx, tenantId, id);
    if (!isSettling(payment)) {
      throw problem.conflict('Only payments that are completed and approved can be applied.');
    }
    if (payment.topUpWalletId !== null) {
      throw problem.conflict('The payment tops up a wallet: its money is a grant.');
    }
    if (!hasMoney(payment)) throw problem.conflict(noWalletPayments);
    if (invoices === undefined) await settlePayment(within(scope, trx), id);
    else {
      await requireInvoices(trx, tenantId, invoices);
      invoices.forEach(({ amount }, index) => {
        if (amount) requireMinorUnit(amount, payment.currency, `invoices[${index}].amount`);
      });
      const ids = invoices.map(({ invoiceId }) => invoiceId);
      const open = await lockOpenAmong(trx, tenantId, payment, ids);
      const applications = named(new Decimal(payment.balance), open, invoices);
      await requireRoom(trx, tenantId, id, applications);
      await applyToInvoices(scope, trx, ofPayment(id, applications));
    }
    return readAppliedPayment(trx, tenantId, id);
  });
}

const ofPayment = (paymentId: string, applications: readonly Application[]): PaymentOfInvoice[] =>
  applications.map((application) => ({ paymentId, ...application }));

/** Distributes an amount over the invoices in order, until nothing is left. */
function divide(amount: Decimal, open: readonly OpenInvoice[]): Application[] {
  let left = amount;
  const applications: Application[] = [];
  for (const { id, balance } of open) {
    if (left.isZero()) break;
    const part = Decimal.min(left, balance);
    applications.push({ invoiceId: id, amount: part });
    left = left.minus(part);
  }
  return applications;
}

type NamedInvoices = NonNullable<ApplyPayment['invoices']>;

/** 400: one that is named does not exist. */
async function requireInvoices(
  trx: Knex.Transaction,
  tenantId: string,
  invoices: NamedInvoices,
): Promise<void> {
  const ids = invoices.map(({ invoiceId }) => invoiceId);
  const found = await Invoice.query(trx).forTenant(tenantId).whereIn('id', ids).select('id');
  const known = new Set(found.map(({ id }) => id));
  const index = ids.findIndex((id) => !known.has(id));
  if (index < 0) return;
  const field = `invoices[${index}].invoiceId`;
  throw problem.validation(`'${field}' names no invoice`, { field, value: ids[index] });
}

/** 409: the payment would pay more invoices than one may. */
async function requireRoom(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
  applications: readonly Application[],
): Promise<void> {
  const paid = new Set((await applicationsOf(trx, tenantId, id)).map(({ invoiceId }) => invoiceId));
  const before = paid.size;
  for (const { invoiceId } of applications) paid.add(invoiceId);
  if (paid.size <= Math.max(before, paidMax.inAll)) return;
  throw problem.conflict(
    `A payment pays ${paidMax.inAll} invoices at the most, and this one would pay ${paid.size}: save another one for what is left.`,
    { field: 'invoices' },
  );
}

/**
 * 409: an invoice is not open for this payment, or the balance of either is less than the amount
 * requested.
 */
function named(balance: Decimal, open: readonly Invoice[], invoices: NamedInvoices): Application[] {
  let left = balance;
  const applications = new Map<string, Application>();
  invoices.forEach(({ invoiceId, amount: asked }, index) => {
    const field = `invoices[${index}]`;
    const invoice = open.find(({ id }) => id === invoiceId);
    if (!invoice) {
      throw problem.conflict(
        `The payment cannot pay the invoice '${invoiceId}': it pays open ones of its account and currency, and of its kind: Pay In invoices, Pay Out credit notes.`,
        { field },
      );
    }
    const before = applications.get(invoiceId)?.amount ?? ZERO;
    const rest = new Decimal(invoice.balance).minus(before);
    const amount = asked ?? Decimal.min(left, rest);
    if (amount.gt(rest) || amount.gt(left)) {
      const [what, most] = amount.gt(rest) ? ['invoice', rest] : ['payment', left];
      throw problem.conflict(`Only ${amountText(most, invoice.currency)} of the ${what} is left.`, {
        field,
      });
    }
    left = left.minus(amount);
    if (amount.isPositive() && !amount.isZero()) {
      applications.set(invoiceId, { invoiceId, amount: before.plus(amount) });
    }
  });
  return [...applications.values()];
}

async function applicationsOf(trx: Knex.Transaction, tenantId: string, paymentId: string) {
  const rows = await PaymentApplication.query(trx)
    .forTenant(tenantId)
    .where({ paymentId })
    .orderBy([
      { column: 'createdAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ]);
  return rows.map(({ invoiceId, amount }) => ({ invoiceId, amount: new Decimal(amount) }));
}

/**
 * Removes applications to invoices that the payment may not pay (other account, currency or type),
 * and, the latest first, those that the amount does not cover. Answers with how many invoices it still pays.
 */
async function takeBack(
  trx: Knex.Transaction,
  tenantId: string,
  payment: Payment,
): Promise<number> {
  const applications = await applicationsOf(trx, tenantId, payment.id);
  if (applications.length === 0) return 0;
  const invoices = await Invoice.query(trx)
    .forTenant(tenantId)
    .whereRaw('id = any(?::uuid[])', [arrayLiteral(applications.map(({ invoiceId }) => invoiceId))])
    .orderBy(['dueDate', 'invoiceDate', 'id'])
    .forUpdate();
  const fits = new Set(
    invoices
      .filter(
        ({ accountId, currency, invoiceType }) =>
          isSettling(payment) &&
          accountId === payment.accountId &&
          currency === payment.currency &&
          invoiceType === invoiceTypeOf(payment),
      )
      .map(({ id }) => id),
  );
  let rest = new Decimal(payment.amount);
  let paid = 0;
  const back: Application[] = [];
  for (const { invoiceId, amount } of applications.toReversed()) {
    const kept = fits.has(invoiceId) ? Decimal.min(rest, amount) : ZERO;
    rest = rest.minus(kept);
    if (!kept.isZero()) paid += 1;
    if (kept.lt(amount)) back.push({ invoiceId, amount: amount.minus(kept) });
  }
  if (back.length > 0) await PaymentApplication.remove(trx, tenantId, payment.id, back);
  return paid;
}
