import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import type {
  CreditInvoiceInput,
  creditInvoiceWorkflow,
} from '../../schemas/billing/credit-note.js';
import { runFlow, type FlowStart } from '../run-flow.js';

type CreditInvoiceData = Static<typeof creditInvoiceWorkflow.data>;

/** A credit of an invoice to start: notes of one invoice wait for each other in its row. */
export function creditNote(
  { invoiceId, reason, items }: CreditInvoiceData,
  idempotencyKey: string | null,
): FlowStart<'creditInvoice'> {
  const input: CreditInvoiceInput = { invoiceId, note: { reason, ...(items ? { items } : {}) } };
  return {
    workflow: 'creditInvoice',
    input,
    businessKey: (executionId) => `invoice/${invoiceId}/credit/${executionId}`,
    entityType: 'invoice',
    entityId: invoiceId,
    idempotencyKey,
    summary: `credit invoice ${invoiceId}`,
  };
}

/** Credits an invoice, and answers with the note. */
export async function createCreditNote(
  scope: Scope,
  platform: Platform,
  data: CreditInvoiceData,
  idempotencyKey: string | null,
) {
  const { output } = await runFlow(scope, platform, creditNote(data, idempotencyKey));
  return output;
}
