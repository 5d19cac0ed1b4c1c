import type { FlowRun } from '../../messages/flow-run.js';
import type { CreditInvoiceInput } from '../../schemas/billing/credit-note.js';
import { lastStep } from '../runtime/flow-step.js';
import { shortSteps } from '../runtime/step-timeouts.js';

/** Makes a credit note against an invoice (docs/decisions/0374): all of it is one step. */
export const creditInvoice = (run: FlowRun<CreditInvoiceInput>) =>
  lastStep(shortSteps.creditInvoice, run, run.input);
