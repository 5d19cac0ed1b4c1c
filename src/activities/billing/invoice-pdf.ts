import { storeInvoicePdf } from '../../commands/billing/invoice-pdf.js';
import type { PdfInvoice } from '../../messages/pdf-invoice.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import {
  loadPdfInvoices,
  loadPdfInvoicesAfter,
  type RenderPage,
} from '../../queries/billing/invoice-pdf.js';
import type { StepCall } from '../flows/flow-step.js';
import { alive } from '../heartbeat.js';
import { workflowScope } from '../scope.js';

export function invoicePdfActivities(platform: Platform) {
  return {
    /**
     * Renders invoices of a run that have no PDF yet, from an invoice on. Answers with the last one, or
     * null when there are no more; those that cannot be rendered are passed by.
     */
    renderInvoicesAfter: ({ run, input }: StepCall<RenderPage>) =>
      alive(run.tenantId, async (): Promise<string | null> => {
        const scope = workflowScope(platform, run.tenantId, run.actor);
        const { invoices, lastId } = await loadPdfInvoicesAfter(scope, run.executionId, input);
        await render(platform, scope, invoices);
        return lastId;
      }),

    /** The same for runs that began before there was a cursor; tells whether they were the last. */
    renderInvoices: ({ run, input: { limit } }: StepCall<{ readonly limit: number }>) =>
      alive(run.tenantId, async (): Promise<boolean> => {
        const scope = workflowScope(platform, run.tenantId, run.actor);
        const invoices = await loadPdfInvoices(scope, run.executionId, limit);
        const stored = await render(platform, scope, invoices);
        return invoices.length < limit || stored === 0;
      }),
  };
}

/** Stores the PDFs of invoices, and tells how many: what cannot be rendered must not stop the others. */
async function render(
  platform: Platform,
  scope: Scope,
  invoices: readonly PdfInvoice[],
): Promise<number> {
  let stored = 0;
  for (const invoice of invoices) {
    const bytes = await platform.invoices.render(invoice).catch((error: unknown) => {
      platform.log.error({ err: error, invoiceId: invoice.id }, 'cannot render an invoice');
    });
    if (bytes === undefined) continue;
    await storeInvoicePdf(scope, invoice, bytes);
    stored += 1;
  }
  return stored;
}
