import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { DateText, FreeText, nullable, optional, Uuid, writeBody } from '../fields/field.js';
import { exampleIds } from '../openapi/examples.js';
import { external, operation, reply } from '../http/operation.js';
import {
  Flag,
  offsetQuery,
  pageQuery,
  searchQuery,
  viewQuery,
  WholeNumber,
} from '../http/paging.js';
import { CreditNoteCreate } from './credit-note.js';
import { InvoiceExplanation } from './invoice-explanation.js';
import { InvoiceItem } from './invoice-item.js';
import { rowSpec } from '../http/row.js';
import { RecordId } from '../http/record-id.js';

const InvoiceHeader = {
  id: Uuid('Id of the invoice.'),
  invoiceNo: Type.String({ description: 'Number of the invoice.' }),
  accountId: Uuid('Account that is charged.'),
  accountName: nullable(Type.String({ description: 'Name of that account.' })),
  invoiceType: Type.String({ description: 'Invoice or Credit Note.' }),
  invoiceStatus: Type.String({ description: 'Draft, Posted or Void.' }),
  paymentStatus: Type.String({ description: 'Unpaid, Partially Paid or Paid.' }),
  dueStatus: Type.String({
    description:
      'Not Due, Overdue (open on the day after the due date), or Settled (nothing is open).',
  }),
  amount: DecimalValue({ description: 'Sum of the items, without tax.' }),
  taxAmount: DecimalValue({ description: 'Sum of the tax of the items.' }),
  total: DecimalValue({ description: 'Amount and tax together.' }),
  balance: DecimalValue({ description: 'What of the total is not paid and not credited.' }),
  creditedAmount: DecimalValue({
    description: 'What credit notes have taken off the total, with tax.',
  }),
  paidAmount: DecimalValue({
    description: 'What payments have taken off the total; of a void invoice nothing.',
  }),
  creditedInvoiceId: nullable(Uuid('Of a credit note against an invoice, that invoice.')),
  currency: Type.String({ description: 'ISO code of its currency.' }),
  invoiceDate: DateText('Date of the invoice.'),
  dueDate: nullable(DateText('When it is to be paid.')),
  periodStart: nullable(DateText('First day of the billed period.')),
  periodEnd: nullable(DateText('Last day of the billed period.')),
  contractId: nullable(Uuid('The contract, when it is for only one.')),
  approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
};

/** What a row of a list shows. */
export const InvoiceSummary = Type.Object(InvoiceHeader, {
  description: 'An invoice without its items.',
});

const nextItemOffset = nullable(
  Type.Integer({
    description:
      'The `itemOffset` of the items that follow, where the answer would be larger than 16 MiB; ' +
      'null: none follow.',
  }),
);
const itemOffset = WholeNumber({ description: 'Items to skip.', minimum: 0, default: 0 });

const Party = (description: string) =>
  Type.Object(
    {
      name: Type.String({ description: 'The name.' }),
      lines: Type.Array(Type.String(), {
        description: 'Address and numbers, as a letter has them below the name.',
      }),
    },
    { description },
  );

export const InvoicePaper = Type.Object(
  {
    seller: Party('Who sends it.'),
    buyer: Party('Who is to pay it.'),
    contractNumber: nullable(
      Type.String({ description: 'Number of its contract, where it is of one alone.' }),
    ),
    poNumber: nullable(Type.String({ description: "The buyer's order number of that contract." })),
    taxes: Type.Array(
      Type.Object(
        {
          rate: DecimalValue({ description: 'Percent.' }),
          base: DecimalValue({ description: 'The amounts that are taxed.' }),
          tax: DecimalValue({ description: 'The sum of their taxes.' }),
        },
        { description: 'The taxes of one rate.' },
      ),
      { description: 'By rate, in the order of the rates.' },
    ),
    payment: nullable(
      Type.Object(
        {
          text: nullable(Type.String({ description: 'What the seller says of it.' })),
          iban: nullable(Type.String({ description: 'The account to pay to.' })),
          bic: nullable(Type.String({ description: 'The bank of that account.' })),
        },
        { description: 'How it is to be paid; null where nothing is, or the seller does not say.' },
      ),
    ),
  },
  {
    description:
      'With paper=true: what its PDF says beside the items, as one that is made now says it.',
  },
);

export const Invoice = Type.Object(
  {
    ...InvoiceHeader,
    items: Type.Array(InvoiceItem, { description: 'The charges, in their order.' }),
    nextItemOffset,
    voidReason: nullable(Type.String({ description: 'Why it was voided, where that was said.' })),
    creditReason: nullable(
      Type.String({ description: 'Of a credit note against an invoice, why it was credited.' }),
    ),
    invoiceFileName: nullable(Type.String({ description: 'Name of its PDF, once there is one.' })),
    executionId: nullable(
      Uuid(
        'The execution that made it: of `credit-invoice` where it credits an invoice, else of `billing-run`.',
      ),
    ),
    paper: Type.Optional(InvoicePaper),
  },
  { description: 'What a billing run charges an account, or a credit note credits it.' },
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

const listStatuses = ['open', 'overdue', 'paid', 'void'] as const;
/** What lists of invoices are asked for, over the statuses that each has. */
export type InvoiceListStatus = (typeof listStatuses)[number];

export const VoidInvoice = writeBody(
  { reason: optional(FreeText('Why it is voided; kept with the invoice.', 1000)) },
  { description: 'Why an invoice is voided. The body may be left out.' },
);

const tag = 'Invoices';

/** Billing runs make invoices (spec/resources.md R81 to R84), and credits make notes against them. */
export const invoiceOperations = {
  list: operation({
    id: 'listInvoices',
    embed: { filter: 'accountId' },
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
      periodFromDate: Type.Optional(DateText('Bills this day or a later one.')),
      periodToDate: Type.Optional(DateText('Bills this day or an earlier one.')),
      billingRunId: Type.Optional(Uuid('The billing run that made it.')),
      status: Type.Optional(
        Type.Unsafe<InvoiceListStatus>({
          type: 'string',
          enum: listStatuses,
          description:
            'open: has a balance; overdue: that is due since a day; paid: nothing is left to pay; void.',
        }),
      ),
    }),
    details:
      'A page of rows without items, those of a day by number; filter by account, by invoice date, ' +
      'by billed days, by billing run and by status.',
    success: reply.rowPage(summaryRow),
    errors: [400],
  }),
  get: operation({
    id: 'getInvoice',
    embed: { record: 'invoice', param: 'invoiceId' },
    method: 'GET',
    path: external('/invoices/{invoiceId}'),
    tag,
    summary: 'Read an invoice with its items',
    query: Type.Object({
      ...viewQuery,
      itemOffset,
      paper: Flag('Adds `paper`.'),
    }),
    details:
      'Each item says how volume and rate make its amount: unit, tiers, days that were charged.',
    success: reply.dto(Invoice, detailRow),
    errors: [400, 404],
  }),
  getPdf: operation({
    id: 'getInvoicePdf',
    embed: { record: 'invoice', param: 'invoiceId' },
    weight: 'heavy',
    method: 'GET',
    path: external('/invoices/{invoiceId}/pdf'),
    tag,
    summary: 'Download the PDF of an invoice',
    details: 'As it was rendered after posting; a void invoice says so on it.',
    success: reply.file('application/pdf'),
    errors: [404],
  }),
  void: operation({
    id: 'voidInvoice',
    isAddition: true,
    method: 'POST',
    path: '/v1/invoices/{invoiceId}/void',
    tag,
    family: 'records',
    summary: 'Void an invoice',
    description:
      'The invoice keeps its number. Its usage and charges are billed by the next run, and payments ' +
      'that were applied to it are free again. Of a credit note, its invoice is owed again.',
    body: VoidInvoice,
    isBodyOptional: true,
    example: { reason: 'Billed before the new prices were known.' },
    access: 'operator',
    success: reply.dto(Invoice),
    errors: [400, 404, 409],
  }),
  credit: operation({
    id: 'createCreditNote',
    isAddition: true,
    method: 'POST',
    path: '/v1/invoices/{invoiceId}/credit-notes',
    tag,
    family: 'records',
    summary: 'Credit an invoice, whole or in part',
    description:
      'Makes a credit note with the tax in proportion. It lowers the balance of the invoice at once; ' +
      'payments get back what was paid too much.',
    details:
      'Notes have numbers of their own. The last note of an item takes the tax that remains. 409 when ' +
      'more is credited than is left, and for an invoice that is not posted or is a credit note. A note ' +
      'and a correction of the same usage both give money back, together at most the item: where usage ' +
      'or its price is wrong, correct it and write no note for it.',
    body: CreditNoteCreate,
    example: {
      reason: 'The agreed price was 0.01.',
      items: [{ itemId: exampleIds.item, amount: 2.5 }],
    },
    access: 'operator',
    idempotency: 'flow',
    success: reply.created(Invoice),
    errors: [400, 404, 409, 504],
  }),
  creditNotes: operation({
    id: 'listCreditNotes',
    isAddition: true,
    method: 'GET',
    path: '/v1/invoices/{invoiceId}/credit-notes',
    tag,
    family: 'records',
    summary: 'List the credit notes against an invoice, the latest first',
    details: 'Void ones, too. Read one with its items as an invoice.',
    query: Type.Object(offsetQuery),
    success: reply.offsetPage(InvoiceSummary),
    errors: [400, 404],
  }),
  explain: operation({
    id: 'explainInvoice',
    isAddition: true,
    weight: 'heavy',
    method: 'GET',
    path: '/v1/invoices/{invoiceId}/explain',
    tag,
    family: 'records',
    summary: 'Explain why an invoice is as high as it is',
    description:
      'A summary (the largest items with rows and tiers, the five largest events, what changed since ' +
      'the invoice before) and each item down to transactions and formula steps.',
    query: Type.Object({
      itemId: Type.Optional(Uuid('Only this item in detail.')),
      itemOffset,
      limit: WholeNumber({
        description: 'Transactions of each item, at most 1000.',
        minimum: 1,
        cap: 1000,
        default: 50,
      }),
      offset: WholeNumber({
        description: 'Transactions of each item to skip.',
        minimum: 0,
        default: 0,
      }),
      summaryOnly: Flag('Whether the detail of items is left out.'),
    }),
    success: reply.dto(InvoiceExplanation),
    errors: [400, 404, 409],
  }),
};
