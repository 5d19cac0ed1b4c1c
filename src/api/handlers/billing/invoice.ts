import { voidInvoice } from '../../../commands/billing/void-invoice.js';
import { createCreditNote } from '../../../flows/billing/credit-note.js';
import { explainInvoice } from '../../../queries/billing/invoice-explanation.js';
import { getInvoice, listCreditNotes, listInvoices } from '../../../queries/billing/invoice.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import { invoicePdf } from '../../invoice-pdf.js';
import type { Handlers } from '../../mount-operations.js';

export const invoiceHandlers: Handlers<Operations['invoice']> = {
  list: ({ query }, scope) => listInvoices(scope, pageRequest(query), query),
  get: ({ params, query }, scope) => getInvoice(scope, params.invoiceId, query),
  getPdf: ({ params }, scope, platform) => invoicePdf(scope, platform, params.invoiceId),
  credit: ({ params, body, idempotencyKey }, scope, platform) =>
    createCreditNote(scope, platform, { ...params, ...body }, idempotencyKey),
  creditNotes: ({ params, query }, scope) => listCreditNotes(scope, params.invoiceId, query),
  void: ({ params, body }, scope) => voidInvoice(scope, params.invoiceId, body.reason ?? null),
  explain: ({ params, query }, scope, { archive }) =>
    explainInvoice(scope, archive, params.invoiceId, query),
};
