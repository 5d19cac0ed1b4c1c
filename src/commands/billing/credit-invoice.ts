import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import { Decimal, sum } from '../../kernel/numbers/money.js';
import { mapInPortions } from '../../kernel/portions.js';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { Account } from '../../models/accounts/account.js';
import { CreditNote } from '../../models/billing/credit-note.js';
import { invoiceNumber, takeInvoiceNumbers } from '../../models/billing/invoice-number.js';
import { Invoice } from '../../models/billing/invoice.js';
import { PaymentApplication } from '../../models/payments/payment-application.js';
import { getInvoice, missingInvoice, readInvoices } from '../../queries/billing/invoice.js';
import { readAppliedPayments } from '../../queries/payments/payment-application.js';
import type { CreditNoteCreate } from '../../schemas/billing/credit-note.js';
import { recordWebhookEvents } from '../webhooks/webhook-event.js';
import {
  creditOf,
  itemOfNote,
  requireRest,
  totalLeft,
  type ItemCredit,
} from './credit-note-draft.js';
import { readCreditLeft } from './differences/credit-left.js';
import { lockPaymentsOf } from '../payments/lock-payments.js';

/** What is credited, and the execution that credits it. */
export interface CreditInvoice extends CreditNoteCreate {
  readonly invoiceId: string;
  readonly executionId: string;
}

/**
 * Makes a credit note against a posted invoice (docs/decisions/0374): it lowers the balance at once,
 * and what was paid too much is unapplied. 400: an item is of no invoice, or of another one, or an
 * amount has too many places. 404: there is no such invoice. 409: it is not posted or is a credit
 * note, or more is credited than is left.
 */
export async function creditInvoice(scope: Scope, credit: CreditInvoice) {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const invoice = await lockInvoice(trx, tenantId, credit.invoiceId);
    requireCreditable(invoice);
    await Invoice.loadItems(trx, tenantId, [invoice]);
    const { items = [] } = invoice;
    const left = await readCreditLeft(trx, tenantId, invoice, items);
    const credits = await creditOf(invoice, items, left, credit.items);
    const total = sum(credits.flatMap(({ amount, tax }) => [amount, tax]));
    const rest = sum([...left.values()].flatMap(({ amount, tax }) => [amount, tax]));
    requireRest(invoice, total, Decimal.min(totalLeft(invoice), rest));
    await CreditNote.take(trx, tenantId, invoice.id, total, credits);
    const paymentIds = await PaymentApplication.takeBackOverpaid(trx, tenantId, invoice.id);
    const noteId = await postNote(trx, scope, invoice, credits, credit);
    await recordEvents(scope, trx, { noteId, invoice, paymentIds });
    return getInvoice(within(scope, trx), noteId);
  });
}

/**
 * Holds the invoice with its account and payments until the transaction ends, in the order of all
 * commands that apply payments. 404: there is none.
 */
async function lockInvoice(trx: Knex.Transaction, tenantId: string, id: string): Promise<Invoice> {
  const found = await Invoice.query(trx).forTenant(tenantId).findById(id).select('accountId');
  if (!found) throw missingInvoice(id);
  await Account.query(trx).forTenant(tenantId).findById(found.accountId).forNoKeyUpdate();
  await lockPaymentsOf(trx, tenantId, id);
  const invoice = await Invoice.query(trx).forTenant(tenantId).findById(id).forNoKeyUpdate();
  if (!invoice) throw missingInvoice(id);
  return invoice;
}

function requireCreditable({ invoiceNo, invoiceType, invoiceStatus }: Invoice): void {
  if (invoiceType !== 'Invoice') {
    throw problem.conflict(`'${invoiceNo}' is a credit note: invoices are credited.`);
  }
  if (invoiceStatus !== 'Posted') {
    throw problem.conflict(
      `The invoice '${invoiceNo}' is ${invoiceStatus}: what is posted can be credited.`,
    );
  }
}

async function postNote(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  invoice: Invoice,
  credits: readonly ItemCredit[],
  { reason, executionId }: CreditInvoice,
): Promise<string> {
  const id = newId();
  const items = await mapInPortions(credits, (credit, position) =>
    itemOfNote(credit, id, newId(), position),
  );
  // The number series is locked last, as by billing runs: until the commit nobody else numbers.
  const { creditNote } = await takeInvoiceNumbers(trx, tenantId, { invoices: 0, creditNotes: 1 });
  const { accountId, contractId, currency, periodStart, periodEnd } = invoice;
  const row = {
    id,
    accountId,
    contractId,
    currency,
    periodStart,
    periodEnd,
    executionId,
    invoiceNo: invoiceNumber('CN', creditNote),
    invoiceDate: utcDate(now()),
    amount: sum(credits.map(({ amount }) => amount)),
    taxAmount: sum(credits.map(({ tax }) => tax)),
    creditedInvoiceId: invoice.id,
    creditReason: reason,
  };
  await CreditNote.insert(trx, tenantId, row, items);
  return id;
}

interface Credited {
  readonly noteId: string;
  /** As it was before. */
  readonly invoice: Invoice;
  readonly paymentIds: readonly string[];
}

/** The note is posted; an invoice that was open may be settled, and payments have more left. */
async function recordEvents(
  scope: Scope,
  trx: Knex.Transaction,
  { noteId, invoice, paymentIds }: Credited,
): Promise<void> {
  const kinds = ['invoice.posted', 'invoice.paid', 'payment.applied'] as const;
  const wasOpen = !new Decimal(invoice.balance).isZero();
  await recordWebhookEvents(trx, scope, kinds, async (isWanted) => {
    const [posted, paid, applied] = kinds;
    const inner = within(scope, trx);
    const ids = [
      ...(isWanted(posted) ? [noteId] : []),
      ...(isWanted(paid) && wasOpen ? [invoice.id] : []),
    ];
    const invoices = await readInvoices(inner, ids);
    const payments = isWanted(applied)
      ? await readAppliedPayments(trx, scope.tenantId, paymentIds)
      : [];
    return [
      ...invoices
        .filter(({ id, balance }) => id === noteId || balance.isZero())
        .map((data) => ({
          event: data.id === noteId ? posted : paid,
          recordId: data.id,
          data,
        })),
      ...payments.map((data) => ({ event: applied, recordId: data.id, data })),
    ];
  });
}
