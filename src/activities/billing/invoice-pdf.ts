import { storeInvoicePdf } from '../../commands/billing/invoice-pdf.js';
import type { PdfInvoice } from '../../messages/pdf-invoice.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import { loadPdfInvoicesAfter, type RenderPage } from '../../queries/billing/invoice-pdf.js';
import type { StepCall } from '../flows/flow-step.js';
import { alive } from '../long-steps-at-once.js';
import { workflowScope } from '../scope.js';

export function invoicePdfActivities(platform: Platform) {
  return {
    /**
     * Renders invoices of a run without a PDF, by keyset paging. Returns the id of the last one, or
     * null if there are no more; invoices that cannot be rendered are skipped.
     */
    renderInvoicesAfter: ({ run, input }: StepCall<RenderPage>) =>
      alive(run.tenantId, async (): Promise<string | null> => {
        const scope = await workflowScope(platform, run.tenantId, run.actor);
        const { invoices, lastId } = await loadPdfInvoicesAfter(scope, run.executionId, input);
        await renderInvoices(platform, scope, invoices);
        return lastId;
      }),
  };
}

/** Stores the PDFs of invoices: one that cannot be rendered must not stop the others. */
async function renderInvoices(
  platform: Platform,
  scope: Scope,
  invoices: readonly PdfInvoice[],
): Promise<void> {
  for (const invoice of invoices) {
    const bytes = await platform.invoices.render(invoice).catch((error: unknown) => {
      platform.log.error({ err: error, invoiceId: invoice.id }, 'cannot render an invoice');
    });
    if (bytes !== undefined) await storeInvoicePdf(scope, invoice, bytes);
  }
}
