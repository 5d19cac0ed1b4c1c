import type { Knex } from 'knex';
import { within, type Scope } from '../../kernel/scope.js';
import {
  PaymentApplication,
  type PaymentOfInvoice,
} from '../../models/payments/payment-application.js';
import { readInvoices } from '../../queries/billing/invoice.js';
import { readAppliedPayments } from '../../queries/payments/payment-application.js';
import { recordWebhookEvents } from '../webhooks/webhook-event.js';

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
  await recordWebhookEvents(trx, scope, [event], async () => {
    const invoices = await readInvoices(within(scope, trx), ids);
    return invoices.map((data) => ({ event, recordId: data.id, data }));
  });
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
  const kinds = ['payment.applied', 'invoice.paid'] as const;
  await recordWebhookEvents(trx, scope, kinds, async (isWanted) => {
    const [applied, paid] = kinds;
    const paymentIds = [...new Set(applications.map(({ paymentId }) => paymentId))];
    const payments = isWanted(applied) ? await readAppliedPayments(trx, tenantId, paymentIds) : [];
    const invoiceIds = [...new Set(applications.map(({ invoiceId }) => invoiceId))];
    const invoices = isWanted(paid) ? await readInvoices(within(scope, trx), invoiceIds) : [];
    return [
      ...payments.map((data) => ({ event: applied, recordId: data.id, data })),
      ...invoices
        .filter(({ balance }) => balance.isZero())
        .map((data) => ({ event: paid, recordId: data.id, data })),
    ];
  });
}
