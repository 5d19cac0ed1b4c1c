import { Type } from 'typebox';
import { Text } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { halfOpenRangeQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';
import { AuditExport, auditColumns } from './audit-columns.js';
import {
  JournalExport,
  journalColumns,
  WalletEntryExport,
  walletEntryColumns,
} from './balance-columns.js';
import {
  InvoiceExport,
  invoiceColumns,
  InvoiceItemExport,
  invoiceItemColumns,
  PaymentExport,
  paymentColumns,
} from './billing-columns.js';
import { focusColumns, FocusExport } from './focus-columns.js';
import {
  CorrectionExport,
  correctionColumns,
  RatedTransactionExport,
  ratedTransactionColumns,
  UsageEventExport,
  usageEventColumns,
} from './usage-columns.js';

/** The columns of each kind; a kind is what `/v1/exports/{kind}` names. */
export const exportColumns = {
  'usage-events': usageEventColumns,
  'rated-transactions': ratedTransactionColumns,
  invoices: invoiceColumns,
  'invoice-items': invoiceItemColumns,
  payments: paymentColumns,
  'wallet-entries': walletEntryColumns,
  journal: journalColumns,
  corrections: correctionColumns,
  audit: auditColumns,
  focus: focusColumns,
} as const;

export type ExportKind = keyof typeof exportColumns;

export const exportKinds = Object.keys(exportColumns) as readonly ExportKind[];

export const exportFormats = ['ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const exportTypes = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<ExportFormat, string>;

export const ExportEnd = Type.Object(
  {
    end: Type.Boolean({ description: 'Whether the export has all rows; false: it broke off.' }),
    rows: Type.Integer({ description: 'Rows before this line.' }),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.String({ description: 'What went wrong, as in an error body.' }),
          message: Type.String({ description: 'The same for people.' }),
        },
        { description: 'Why it broke off.' },
      ),
    ),
  },
  { description: 'The last line of an export.' },
);

const example = [
  {
    cursor: '2026-10-05~01a1231c-0810-7000-8001-000000004e7b',
    id: '01a1231c-0810-7000-8001-000000004e7b',
    usageEventId: '01a1231c-0810-7000-8000-000000004e7b',
    externalTranId: 'txn-1001',
    transactionDate: '2026-10-05',
    accountId: '01939c6e-7a01-7000-8000-000000000001',
    masterAccountId: '01939c6e-7a01-7000-8000-000000000001',
    serviceId: '01939c6e-7a01-7000-8000-000000000002',
    serviceInstanceId: null,
    contractId: null,
    contractServiceId: null,
    amount: 1.25,
    discount: 0,
    taxAmount: 0,
    quantity: 12,
    currency: 'USD',
    usageType: 'Charge',
    chargeType: 'Usage',
    ratedAt: '2026-10-05T12:00:00.000Z',
    reverses: null,
    correctionId: null,
  },
  { end: true, rows: 1 },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

export const exportOperations = {
  stream: operation({
    id: 'exportRecords',
    isAddition: true,
    weight: 'heavy',
    method: 'GET',
    path: '/v1/exports/{kind}',
    pathValues: { kind: exportKinds },
    tag: 'Exports',
    family: 'records',
    summary: 'Export all of a kind as one stream',
    description:
      'Rows in the order of their time, then of their id, each with its cursor. The last line says that ' +
      'this is all: without it the export broke off, and `after` with the last cursor goes on. In CSV the ' +
      'last line is a comment (`# end, rows: 3`); Parquet has its footer. Two at once of a tenant.',
    query: Type.Object({
      format: Type.Unsafe<ExportFormat>({
        type: 'string',
        enum: exportFormats,
        default: 'ndjson',
        description: 'NDJSON: a line is a row; CSV as RFC 4180 has it; Parquet.',
      }),
      ...halfOpenRangeQuery('Rows'),
      accountId: Type.Optional(RecordId('account', 'Rows of this account.')),
      after: Type.Optional(Text('Cursor of a row: the export goes on behind it.')),
    }),
    success: reply.stream({
      [exportTypes.ndjson]: {
        lines: [
          RatedTransactionExport,
          UsageEventExport,
          InvoiceExport,
          InvoiceItemExport,
          PaymentExport,
          WalletEntryExport,
          JournalExport,
          CorrectionExport,
          AuditExport,
          FocusExport,
          ExportEnd,
        ],
        example,
      },
      [exportTypes.csv]: null,
      [exportTypes.parquet]: null,
    }),
    errors: [400, 404, 409],
  }),
};
