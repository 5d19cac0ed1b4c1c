import type { PdfInvoice, PdfItem, PdfParty } from '../../../src/messages/pdf-invoice.js';

/** An item of 17 calls at 0.125: 2.125, which is 2.13. */
export const pdfItem = (description: string, changes: Partial<PdfItem> = {}): PdfItem => ({
  description,
  detail: 'API',
  from: '2026-09-01',
  to: '2026-09-30',
  volume: '17',
  rate: '0.125',
  amount: '2.13',
  tax: '0',
  taxRate: null,
  unit: null,
  method: 'QUANTITY',
  exactAmount: null,
  tiers: [],
  proration: null,
  steps: [],
  stepsOf: 0,
  ...changes,
});

export const pdfParty = (name: string, changes: Partial<PdfParty> = {}): PdfParty => ({
  name,
  lines: ['1 Main Street'],
  street: null,
  street2: null,
  zipCode: null,
  city: null,
  country: null,
  vatId: null,
  registration: null,
  ...changes,
});

/** An invoice to a buyer of this name. */
export const pdfInvoice = (
  name: string,
  items: readonly PdfItem[],
  changes: Partial<PdfInvoice> = {},
): PdfInvoice => ({
  id: '0190a000-0000-7000-8000-000000000001',
  title: 'Invoice',
  invoiceNo: 'INV-000001',
  isCredit: false,
  credited: null,
  isVoid: false,
  invoiceDate: '2026-10-01',
  dueDate: '2026-10-31',
  periodStart: '2026-09-01',
  periodEnd: '2026-09-30',
  currency: 'USD',
  minorDigits: 2,
  seller: pdfParty('Acme Billing'),
  buyer: pdfParty(name),
  amount: '2.13',
  taxAmount: '0',
  total: '2.13',
  paid: '0',
  due: '2.13',
  taxes: [],
  items,
  contractNumber: null,
  poNumber: null,
  payment: null,
  usage: null,
  ...changes,
});

/** As many items, each with a text of its own. */
export const pdfItems = (count: number): PdfItem[] =>
  Array.from({ length: count }, (_none, index) => pdfItem(`Calls of region ${index}`));
