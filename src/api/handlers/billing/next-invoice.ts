import { previewNextInvoice } from '../../../commands/billing/next-invoice.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const nextInvoiceHandlers: Handlers<Operations['nextInvoice']> = {
  get: ({ params }, scope, { broker }) => previewNextInvoice(scope, broker, params.accountId),
};
