import { creditInvoice } from '../../commands/billing/credit-invoice.js';
import type { Platform } from '../../process/platform.js';
import { CreditNoteCreate, type CreditInvoiceInput } from '../../schemas/billing/credit-note.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { flowStep } from '../flows/flow-step.js';

export function creditNoteActivities(platform: Platform) {
  return {
    /** Makes a credit note against an invoice. */
    creditInvoice: flowStep(
      platform,
      (scope, { invoiceId, note }: CreditInvoiceInput, executionId) =>
        creditInvoice(scope, { ...reviveInput(CreditNoteCreate, note), invoiceId, executionId }),
    ),
  };
}
