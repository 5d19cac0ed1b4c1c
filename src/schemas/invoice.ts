import { Type } from 'typebox';
import { DecimalValue } from '../kernel/decimal-value.js';
import type { Explanation } from '../rating/index.js';
import { DateText, FreeText, nullable, optional, Uuid, writeBody } from './field.js';
import { external, operation, reply } from './operation.js';
import { pageQuery, searchQuery, viewQuery, WholeNumber } from './paging.js';
import { rowSpec } from './row.js';
import { RecordId } from './record-id.js';

const Proration = Type.Object(
  {
    days: Type.Integer({ description: 'The days that are charged.' }),
    of: Type.Integer({ description: 'The days of the whole period.' }),
    text: Type.String({ description: 'Both as people read them, such as 16 of 31 days.' }),
  },
  { description: 'Which part of its period a charge is for.' },
);

const ItemTier = Type.Object(
  {
    tierNum: Type.Integer({ description: 'Position of the tier in its row.' }),
    tierMinVal: DecimalValue({ description: 'Where it begins: it covers what is above.' }),
    tierMaxVal: nullable(DecimalValue({ description: 'Its last volume; null: without end.' })),
    volume: DecimalValue({ description: 'What of the volume lies in it.' }),
    ratePerUnit: DecimalValue({ description: 'Price per unit, or of the band where it is flat.' }),
    flatRate: Type.Boolean({ description: 'Whether the band costs the rate once.' }),
    amount: DecimalValue({ description: 'What it costs, exact; of the whole period.' }),
  },
  { description: 'What one tier has charged of an item.' },
);

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
    unit: nullable(
      Type.String({
        description: 'What the volume counts: the label of the attribute, else its name.',
      }),
    ),
    proration: nullable(Proration),
    tiers: Type.Array(ItemTier, {
      description: 'What each tier of a graduated price has charged; empty for other prices.',
    }),
  },
  { description: 'One charge of an invoice.' },
);

const InvoiceHeader = {
  id: Uuid('Id of the invoice.'),
  invoiceNo: Type.String({ description: 'Number of the invoice.' }),
  invoiceDate: DateText('Date of the invoice.'),
  accountId: Uuid('Account that is charged.'),
  accountName: nullable(Type.String({ description: 'Name of that account.' })),
  invoiceStatus: Type.String({ description: 'Draft, Posted or Void.' }),
  invoiceType: Type.String({ description: 'Invoice or Credit Note.' }),
  amount: DecimalValue({ description: 'Sum of the items, without tax.' }),
  taxAmount: DecimalValue({ description: 'Sum of the tax of the items.' }),
  total: DecimalValue({ description: 'Amount and tax together.' }),
  balance: DecimalValue({ description: 'What of the total is not paid.' }),
  currency: Type.String({ description: 'ISO code of its currency.' }),
  dueDate: nullable(DateText('When it is to be paid.')),
  periodStart: nullable(DateText('First day of the billed period.')),
  periodEnd: nullable(DateText('Last day of the billed period.')),
  paymentStatus: Type.String({ description: 'Unpaid, Partially Paid or Paid.' }),
  dueStatus: Type.String({
    description:
      'Not Due, Overdue (open on the day after the due date), or Settled (nothing is open).',
  }),
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
    voidReason: nullable(Type.String({ description: 'Why it was voided, where that was said.' })),
    invoiceFileName: nullable(Type.String({ description: 'Name of its PDF, once there is one.' })),
    items: Type.Array(InvoiceItem, { description: 'The charges, in their order.' }),
  },
  { description: 'What a billing run charges an account.' },
);

const Formula = (description: string) =>
  nullable(Type.Unsafe<Explanation>({ type: 'object', description }));

/** A rated transaction as a part of an item. */
const ExplainedUsage = Type.Object(
  {
    id: Uuid('Id of the rated transaction.'),
    usageEventId: Uuid('The event that it was rated from.'),
    externalTranId: Type.String({ description: 'The externalTransactionId of the event.' }),
    transactionDate: DateText('Day of the usage.'),
    volume: DecimalValue({ description: 'What of its volume is part of the item.' }),
    amount: DecimalValue({ description: 'What of its amount is part of the item.' }),
    explanation: Formula('How it was priced: card, row, tiers, counters, every formula step.'),
  },
  { description: 'Usage that is part of an item.' },
);

/** A subscription or one-time charge as the part of an item. */
const ExplainedCharge = Type.Object(
  {
    id: Uuid('Id of the charge.'),
    contractServiceId: Uuid('The contract line.'),
    periodStart: DateText('First day of the charge period.'),
    periodEnd: DateText('Last day of the charge period.'),
    billStartDate: DateText('First day that is charged.'),
    billEndDate: DateText('Last day that is charged.'),
    isProrated: Type.Boolean({ description: 'Whether only the charged days are paid.' }),
    proration: nullable(Proration),
    amount: DecimalValue({ description: 'The amount of these days.' }),
    explanation: Formula(
      'How the amount came about: the price of the whole period, and then of the charged days.',
    ),
  },
  { description: 'A charge of a contract line that is part of an item.' },
);

const ExplainedItem = Type.Object(
  {
    id: Uuid('Id of the item.'),
    description: nullable(Type.String({ description: 'What is charged.' })),
    chargeType: Type.String({ description: 'Usage, Subscription or OTC.' }),
    parts: Type.Integer({ description: 'Of how many transactions or charges it is made.' }),
    sumOfParts: DecimalValue({ description: 'The sum of all its parts, exact.' }),
    exactAmount: nullable(DecimalValue({ description: 'Its amount before the one rounding.' })),
    amount: DecimalValue({ description: 'Its amount, rounded to the minor unit.' }),
    taxCode: nullable(Type.String({ description: 'Tax code of the row of the rate card.' })),
    taxRate: nullable(DecimalValue({ description: 'Tax rate in percent when it was billed.' })),
    tax: DecimalValue({ description: 'Tax on the amount, rounded to the minor unit.' }),
    matches: Type.Boolean({ description: 'Whether the parts sum up to the exact amount.' }),
    transactions: Type.Array(ExplainedUsage, { description: 'Usage, by day; a page of it.' }),
    charges: Type.Array(ExplainedCharge, { description: 'Charges of contract lines.' }),
  },
  { description: 'An item down to what it is made of.' },
);

export const InvoiceExplanation = Type.Object(
  {
    invoiceId: Uuid('Id of the invoice.'),
    invoiceNo: Type.String({ description: 'Number of the invoice.' }),
    invoiceStatus: Type.String({ description: 'Posted or Void; the usage of a void one is free.' }),
    currency: Type.String({ description: 'ISO code of its currency.' }),
    amount: DecimalValue({ description: 'Sum of the items, without tax.' }),
    taxAmount: DecimalValue({ description: 'Sum of the tax of the items.' }),
    items: Type.Array(ExplainedItem, {
      description:
        'The items, in their order. Together they show at most 10,000 transactions and as many charges, ' +
        'and 8 MiB of explanations; further ones are null.',
    }),
  },
  { description: 'How an invoice came about.' },
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

export const VoidInvoice = writeBody(
  { reason: optional(FreeText('Why it is voided; kept with the invoice.', 1000)) },
  { description: 'Why an invoice is voided. The body may be left out.' },
);

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
      accountId: Type.Optional(RecordId('account', 'The account that is charged.')),
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
    weight: 'heavy',
    method: 'GET',
    path: external('/invoices/{invoiceId}/pdf'),
    tag,
    summary: 'Download the PDF of an invoice',
    success: reply.file('application/pdf'),
    errors: [404],
  }),
  void: operation({
    id: 'voidInvoice',
    method: 'POST',
    path: '/v1/invoices/{invoiceId}/void',
    ...{ tag, family: 'records', summary: 'Void an invoice' },
    description:
      'The invoice keeps its number. Its usage and charges are billed by the next run, and payments ' +
      'that were applied to it are free again.',
    body: VoidInvoice,
    isBodyOptional: true,
    example: { reason: 'Billed before the new prices were known.' },
    access: 'operator',
    success: reply.dto(Invoice),
    errors: [400, 404, 409],
  }),
  explain: operation({
    id: 'explainInvoice',
    weight: 'heavy',
    method: 'GET',
    path: '/v1/invoices/{invoiceId}/explain',
    ...{ tag, family: 'records' },
    summary: 'Show of what each item of an invoice is made, down to formula steps',
    query: Type.Object({
      limit: WholeNumber({
        ...{ description: 'Transactions of each item, at most 1000.', minimum: 1 },
        ...{ cap: 1000, default: 50 },
      }),
      offset: WholeNumber({
        ...{ description: 'Transactions of each item to skip.', minimum: 0, default: 0 },
      }),
    }),
    success: reply.dto(InvoiceExplanation),
    errors: [400, 404],
  }),
};
