import {
  previewCreditNote,
  previewVoid,
} from '../../../commands/billing/previews/preview-mending.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const invoicePreviewHandlers: Handlers<Operations['invoicePreview']> = {
  credit: ({ params, body }, scope) => previewCreditNote(scope, params.invoiceId, body),
  void: ({ params }, scope) => previewVoid(scope, params.invoiceId),
};
