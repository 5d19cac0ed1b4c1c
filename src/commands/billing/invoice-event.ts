import type { Knex } from 'knex';
import { within, type Scope } from '../../kernel/scope.js';
import type { WebhookEvent } from '../../messages/webhook.js';
import {
  PaymentApplication,
  type PaymentOfInvoice,
} from '../../models/payments/payment-application.js';
import { countItems, readInvoices } from '../../queries/billing/invoice.js';
import { readAppliedPayments } from '../../queries/payments/payment-application.js';
import { recordWebhookEvents, wantedKinds } from '../webhooks/webhook-event.js';

/**
 * Records webhook events for invoices that are void or overdue, with their present state. The
 * caller holds the invoices.
 */
export async function recordInvoiceEvents(
  scope: Scope,
  trx: Knex.Transaction,
  event: 'invoice.voided' | 'invoice.overdue',
  ids: readonly string[],
): Promise<void> {
  for await (const invoices of wantedInvoices(scope, trx, event, ids)) {
    const events = invoices.map((data) => ({ event, recordId: data.id, data }));
    await recordWebhookEvents(trx, scope, [event], () => events);
  }
}

/** Items of invoices that are held together, with what is written of them; one invoice may have more. */
const itemsAtOnce = 5_000;

/** These invoices, if anybody wants to be told of them, a few at a time where they are long. */
async function* wantedInvoices(
  scope: Scope,
  trx: Knex.Transaction,
  event: WebhookEvent,
  ids: readonly string[],
) {
  const { all: wanted } = await wantedKinds(trx, scope.tenantId);
  if (!wanted.has(event)) return;
  const counts = await countItems(trx, scope.tenantId, ids);
  let group: string[] = [];
  let items = 0;
  for (const id of ids) {
    const count = counts.get(id) ?? 0;
    if (group.length > 0 && items + count > itemsAtOnce) {
      yield readInvoices(within(scope, trx), group);
      [group, items] = [[], 0];
    }
    group.push(id);
    items += count;
  }
  yield readInvoices(within(scope, trx), group);
}

/**
 * Applies payments to invoices, both of which the caller holds, and records webhook events: for
 * each payment with all its applications, and for each invoice that is paid in full.
 */
export async function applyToInvoices(
  scope: Scope,
  trx: Knex.Transaction,
  applications: readonly PaymentOfInvoice[],
): Promise<void> {
  if (applications.length === 0) return;
  const { tenantId } = scope;
  await PaymentApplication.add(trx, tenantId, applications);
  const [applied, paid] = ['payment.applied', 'invoice.paid'] as const;
  await recordWebhookEvents(trx, scope, [applied], async () => {
    const paymentIds = [...new Set(applications.map(({ paymentId }) => paymentId))];
    const payments = await readAppliedPayments(trx, tenantId, paymentIds);
    return payments.map((data) => ({ event: applied, recordId: data.id, data }));
  });
  const invoiceIds = [...new Set(applications.map(({ invoiceId }) => invoiceId))];
  for await (const invoices of wantedInvoices(scope, trx, paid, invoiceIds)) {
    const events = invoices
      .filter(({ balance }) => balance.isZero())
      .map((data) => ({ event: paid, recordId: data.id, data }));
    await recordWebhookEvents(trx, scope, [paid], () => events);
  }
}
