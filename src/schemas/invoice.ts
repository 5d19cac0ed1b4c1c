import { Type } from 'typebox';
import { DecimalValue } from '../kernel/decimal-value.js';
import { DateText, nullable, Uuid } from './field.js';
import { external, operation, reply } from './operation.js';
import { pageQuery, searchQuery, viewQuery } from './paging.js';
import { rowSpec } from './row.js';

export const InvoiceItem = Type.Object(
  {
    id: Uuid('Id of the item.'),
    invoiceId: Uuid('Invoice that it belongs to.'),
    serviceId: nullable(Uuid('The service charged.')),
    description: nullable(Type.String({ description: 'What is charged.' })),
    volume: DecimalValue({ description: 'How much was charged.' }),
    ratePerUnit: nullable(DecimalValue({ description: 'Price per unit, where there is one.' })),
    amount: DecimalValue({ description: 'What it costs, without tax.' }),
    tax: DecimalValue({ description: 'Tax on the amount.' }),
    balance: DecimalValue({ description: 'What of amount and tax is not paid.' }),
    chargeType: Type.String({ description: 'Usage, Subscription or OTC.' }),
    priceMethodType: nullable(Type.String({ description: 'Price method of the charge.' })),
    billStartDate: nullable(DateText('First day that it is for.')),
    billEndDate: nullable(DateText('Last day that it is for.')),
    serviceName: nullable(Type.String({ description: 'Name of the service when billed.' })),
    serviceCode: nullable(Type.String({ description: 'Code of the service when billed.' })),
    currency: Type.String({ description: 'ISO code of the currency of the invoice.' }),
  },
  { description: 'One charge of an invoice.' },
);

const InvoiceHeader = {
  id: Uuid('Id of the invoice.'),
  invoiceNo: Type.String({ description: 'Number of the invoice.' }),
  invoiceDate: DateText('Date of the invoice.'),
  accountId: Uuid('Account that is charged.'),
  invoiceStatus: Type.String({ description: 'Draft, Posted or Void.' }),
  invoiceType: Type.String({ description: 'Invoice or Credit Note.' }),
  amount: DecimalValue({ description: 'Sum of the items, without tax.' }),
  taxAmount: DecimalValue({ description: 'Sum of the tax of the items.' }),
  balance: DecimalValue({ description: 'What of amount and tax is not paid.' }),
  currency: Type.String({ description: 'ISO code of its currency.' }),
  dueDate: nullable(DateText('When it is to be paid.')),
  periodStart: nullable(DateText('First day of the billed period.')),
  periodEnd: nullable(DateText('Last day of the billed period.')),
  paymentStatus: Type.String({ description: 'Unpaid, Partially Paid or Paid.' }),
  approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
  contractId: nullable(Uuid('The contract, when it is for only one.')),
};

/** What a row of a list shows. */
export const InvoiceSummary = Type.Object(InvoiceHeader, {
  description: 'An invoice without its items.',
});

export const Invoice = Type.Object(
  {
    ...InvoiceHeader,
    invoiceFileName: nullable(Type.String({ description: 'Name of its PDF, once there is one.' })),
    items: Type.Array(InvoiceItem, { description: 'The charges, in their order.' }),
  },
  { description: 'What a billing run charges an account.' },
);

const lookups = {
  invoiceStatus: 'invoiceStatus',
  invoiceType: 'invoiceType',
  currency: 'currency',
  paymentStatus: 'invoicePaymentStatus',
  approvalStatus: 'approvalStatus',
} as const;
const summaryRow = rowSpec('Invoice', InvoiceSummary, lookups);
const detailRow = rowSpec('Invoice', Invoice, lookups);

const tag = 'Invoices';

/** Document 1, section 4.6. */
export const invoiceOperations = {
  list: operation({
    id: 'listInvoices',
    method: 'GET',
    path: external('/invoices'),
    tag,
    summary: 'List invoices, the latest first',
    query: Type.Object({
      ...pageQuery,
      ...searchQuery('the invoiceNo'),
      accountId: Type.Optional(Uuid('The account that is charged.')),
      fromDate: Type.Optional(DateText('First invoice date, inclusive.')),
      toDate: Type.Optional(DateText('Last invoice date, inclusive.')),
    }),
    success: reply.rowPage(summaryRow),
    errors: [400],
  }),
  get: operation({
    id: 'getInvoice',
    method: 'GET',
    path: external('/invoices/{invoiceId}'),
    tag,
    summary: 'Read an invoice with its items',
    query: Type.Object(viewQuery),
    success: reply.dto(Invoice, detailRow),
    errors: [400, 404],
  }),
  getPdf: operation({
    id: 'getInvoicePdf',
    method: 'GET',
    path: external('/invoices/{invoiceId}/pdf'),
    tag,
    summary: 'Download the PDF of an invoice',
    success: reply.file('application/pdf'),
    errors: [404],
  }),
};
