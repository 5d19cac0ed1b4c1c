import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { Payment } from '../../models/payments/payment.js';
import { missingPayment, presentPayment, type PaymentDto } from '../../queries/payments/payment.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/payments/payment.js';
import { grantTopUp } from '../balances/top-up-grant.js';
import { holdAccount, holdAccounts } from '../accounts/lock-account.js';
import { requireMinorUnit } from '../rules/minor-unit.js';
import type { Drafted } from '../flows/save-by-flow.js';
import { noWalletPayments, releasePayment, settlePayments } from './settle-payment.js';
import { recordWebhookEvents, wantedKinds } from '../webhooks/webhook-event.js';

type PaymentCreate = Static<typeof schema.PaymentCreate>;
type PaymentUpdate = Static<typeof schema.PaymentUpdate>;

/**
 * A new payment whose status is null gets the default of the column (spec/resources.md R76); in a
 * change null is refused (docs/decisions/0311).
 */
const defaults = { paymentStatus: undefined, paymentGlStatus: undefined, isManualPayment: false };

/** How much of a payment is applied, by its two amounts. */
const balanceStatusOf = (amount: Decimal, balance: Decimal): string =>
  balance.eq(amount) ? 'Unapplied' : balance.isZero() ? 'Applied' : 'Partially Applied';

/**
 * Saves a payment with the payment manager's defaults (spec/resources.md R76): approved, waiting
 * for the general ledger, nothing of it applied. 400: no such account. 409: the reference is taken.
 */
export async function createPayment(scope: Scope, input: PaymentCreate): Promise<PaymentDto> {
  const columns = newColumns(input);
  return scope.db.transaction(async (trx) => {
    await holdAccount(trx, scope, input.accountId);
    const payment = await newPayments(trx, scope).insert(columns);
    return presentPayment(payment);
  });
}

/** The same for those of a batch's step, in their order: one statement saves them all. */
export async function createPayments(
  scope: Scope,
  inputs: readonly PaymentCreate[],
): Promise<PaymentDto[]> {
  const columns = inputs.map(newColumns);
  return scope.db.transaction(async (trx) => {
    await holdAccounts(
      trx,
      scope,
      inputs.map(({ accountId }) => accountId),
    );
    const payments = await newPayments(trx, scope).insert(columns);
    return payments.map(presentPayment);
  });
}

const newPayments = (trx: Knex.Transaction, { tenantId }: Scope) =>
  Payment.query(trx).forTenant(tenantId).returning('*');

/** The columns of a new payment. 400: it needs no row to be refused. */
function newColumns(input: PaymentCreate) {
  const given = input.amount ?? ZERO;
  const amount = given.toFixed();
  requireNoWallet(input);
  requireMinorUnit(given, input.currency);
  return { ...columnsOf(schema.Payment, input, defaults), amount, balance: amount };
}

/**
 * 400: the payment is one by wallet. One that was saved by an earlier release may be changed, but not
 * completed any more (docs/decisions/0240).
 */
function requireNoWallet(input: PaymentCreate | PaymentUpdate, saved?: Payment): void {
  if ((input.paymentMethod ?? saved?.paymentMethod) !== 'Wallet') return;
  const isSaved = saved?.paymentMethod === 'Wallet';
  const status = input.paymentStatus ?? saved?.paymentStatus;
  if (isSaved && (status !== 'Completed' || saved.paymentStatus === 'Completed')) return;
  throw problem.validation(noWalletPayments, { field: 'paymentMethod', value: 'Wallet' });
}

async function lockPayment(trx: Knex.Transaction, scope: Scope, id: string): Promise<Payment> {
  const payment = await Payment.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forUpdate();
  if (!payment) throw missingPayment(id);
  return payment;
}

/**
 * The balance after a new amount; applications that it no longer covers are removed by settling.
 */
function amountColumns(payment: Payment, amount: Decimal) {
  const applied = new Decimal(payment.amount).minus(payment.balance);
  const balance = Decimal.max(ZERO, amount.minus(applied));
  return {
    amount: amount.toFixed(),
    balance: balance.toFixed(),
    balanceStatus: balanceStatusOf(amount, balance),
  };
}

/**
 * 400: the new amount has more decimal places than its currency; an amount stored before may stay.
 */
function requireUnit(payment: Payment, { amount, currency }: PaymentUpdate): void {
  if (amount === undefined && currency === undefined) return;
  const given = amount ?? new Decimal(payment.amount);
  if (currency === undefined && given.eq(payment.amount)) return;
  requireMinorUnit(given, currency ?? payment.currency);
}

/**
 * Changes what is given; a flow that completes a draft also says how it is approved. 400: no such
 * account. 404: no such payment. 409: the reference is taken.
 */
export async function updatePayment(
  scope: Scope,
  id: string,
  input: PaymentUpdate,
  approvalStatus?: string,
): Promise<PaymentDto> {
  const { amount } = input;
  return scope.db.transaction(async (trx) => {
    const payment = await lockPayment(trx, scope, id);
    requireNoWallet(input, payment);
    requireUnit(payment, input);
    if (input.accountId !== undefined) await holdAccount(trx, scope, input.accountId);
    const changed = await payment
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({
        ...columnsOf(schema.Payment, input, defaults),
        ...(amount === undefined ? {} : amountColumns(payment, amount)),
        ...defined({ approvalStatus }),
        updatedAt: scope.now(),
      })
      .returning('*');
    return presentPayment(await withTopUp(trx, scope, changed as unknown as Payment));
  });
}

/** A payment that tops up a wallet is used up once it is a grant; it keeps its amount then. */
async function withTopUp(trx: Knex.Transaction, scope: Scope, payment: Payment): Promise<Payment> {
  if ((await grantTopUp(trx, scope, payment)) !== true) return payment;
  const used = await payment
    .$query(trx)
    .forTenant(scope.tenantId)
    .patch({ balance: '0', balanceStatus: 'Applied' })
    .returning('*');
  return used as unknown as Payment;
}

/**
 * Saves payments by `save`, applies one after the other to invoices, and records a webhook event of each
 * unless it is a draft.
 */
export async function saveAndSettle(
  scope: Scope,
  save: (scope: Scope) => Promise<readonly Drafted<PaymentDto>[]>,
): Promise<Drafted<PaymentDto>[]> {
  return scope.db.transaction(async (trx) => {
    const inner = within(scope, trx);
    const given = await save(inner);
    // What events are wanted is asked in the same round trip: settling, too, needs to know.
    const [settled] = await Promise.all([
      settlePayments(
        inner,
        given.map(({ id }) => id),
      ),
      wantedKinds(trx, scope.tenantId),
    ]);
    const saved = given.map((payment) => ({ ...payment, ...settled.get(payment.id) }));
    await recordWebhookEvents(trx, scope, ['payment.saved'], () =>
      saved
        .filter(({ draft }) => draft !== true)
        .map((data) => ({ event: 'payment.saved', recordId: data.id, data })),
    );
    return saved;
  });
}

/** What a deletion answers with. */
export interface Deleted {
  readonly id: string;
  readonly deleted: true;
}

/** Deletes a payment; invoices that it paid are open again. 404: there is none. */
export async function deletePayment(scope: Scope, id: string): Promise<Deleted> {
  return scope.db.transaction(async (trx) => {
    const payment = await lockPayment(trx, scope, id);
    await releasePayment(trx, scope.tenantId, id);
    await payment.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
    return { id: payment.id, deleted: true as const };
  });
}
