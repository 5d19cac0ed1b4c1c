import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { DateText, Instant, nullable, Uuid } from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery, searchQuery, viewQuery } from '../http/paging.js';
import { rowSpec } from '../http/row.js';
import { RecordId } from '../http/record-id.js';

export const RatedDimension = Type.Object(
  {
    id: nullable(Uuid('Id of the dimension; null in a simulation.')),
    transactionId: nullable(Uuid('Rated transaction that it belongs to; null in a simulation.')),
    dimensionId: Uuid('The priceable attribute.'),
    dimensionName: Type.String({ description: 'Name of the attribute.' }),
    calcAmount: DecimalValue({ description: 'What it costs, to 10 decimal places.' }),
    currency: Type.String({ description: 'ISO code.' }),
    volume: DecimalValue({ description: 'How much was priced.' }),
    rate: DecimalValue({ description: 'Price per unit; of tiers the average.' }),
    priceMethodType: Type.String({ description: 'Price method of the row that priced it.' }),
    billStartDate: DateText('First day that it is for.'),
    billEndDate: DateText('Last day that it is for.'),
    isProrated: Type.Boolean({ description: 'Whether only part of a period was charged.' }),
    itemType: Type.String({ description: 'Usage, Subscription or OTC.' }),
  },
  { description: 'A priced row of a rated transaction.' },
);

const ofOthers = 'null: another account used it, and the token is that of an embed.';

const RatedTransactionHeader = {
  id: nullable(Uuid('Id of the rated transaction; null in a simulation.')),
  externalTranId: nullable(
    Type.String({ description: `The externalTransactionId of the event; ${ofOthers}` }),
  ),
  amount: DecimalValue({ description: 'What it costs, to 10 decimal places.' }),
  currency: Type.String({ description: 'ISO code.' }),
  quantity: DecimalValue({ description: 'How much was used.' }),
  usageType: Type.String({ description: 'Charge or Payout.' }),
  chargeType: Type.String({ description: 'Usage, Subscription or OTC.' }),
  billed: Type.Boolean({ description: 'Whether it is on an invoice.' }),
  transactionDate: DateText('Day of the usage, in UTC.'),
  accountId: Uuid('The billed account.'),
  accountNumber: nullable(Type.String({ description: 'Number of the billed account.' })),
  masterAccountId: nullable(Uuid(`The account that used it; ${ofOthers}`)),
  serviceId: Uuid('The service used.'),
  serviceInstanceId: nullable(Type.String({ description: 'The instance of the service.' })),
  contractId: nullable(Uuid('The contract, if a line of one was running.')),
  discount: DecimalValue({ description: 'Discount.' }),
  taxAmount: DecimalValue({ description: 'Tax.' }),
  convCurrency: Type.String({ description: 'ISO code of the currency of the amounts.' }),
  ratedAt: nullable(Instant('When it became known; null in a simulation.')),
  reverses: nullable(
    Uuid('Of a reversal: the rated transaction whose amount and quantity it negates.'),
  ),
  correctionId: nullable(
    Uuid('The correction that added it; null where usage was rated as it came.'),
  ),
};

/** The correction that made a charge, on receipts: what was done, and why. */
export const ChargeCorrection = nullable(
  Type.Object(
    {
      id: Uuid('Id of the correction.'),
      kind: Type.String({ description: 'cancel, amend or rerate.' }),
      reason: Type.String({ description: 'Why it was corrected.' }),
    },
    { description: 'The correction that made it; null where usage was rated as it came.' },
  ),
);

/** The invoice that has a charge, with its items: rows of the card may be items of their own. */
export const BillingInvoice = Type.Object(
  {
    id: Uuid('Id of the invoice.'),
    invoiceNo: Type.String({ description: 'Its number.' }),
    items: Type.Array(
      Type.Object(
        {
          id: Uuid('Id of the item.'),
          description: nullable(Type.String({ description: 'What is charged.' })),
        },
        { description: 'An item of it.' },
      ),
      { description: 'The items that the charge is part of.' },
    ),
  },
  {
    description:
      'With invoices=true: the invoice that bills a charge; null where none does, a void one or a later one ' +
      'than the first hundred from its day on.',
  },
);

/** What a correction waits to be billed against. */
export const BilledBefore = Type.Object(
  {
    ...BillingInvoice.properties,
    amount: DecimalValue({ description: 'What the charge cost that it bills.' }),
    difference: DecimalValue({
      description:
        'What the charge costs more now, below zero less: it waits for the next invoice.',
    }),
  },
  {
    description:
      'With invoices=true, of a corrected charge that is not billed yet: the invoice that bills the charge ' +
      'in whose place it came; null where none does.',
  },
);

/** What a row of a list shows. */
export const RatedTransactionSummary = Type.Object(RatedTransactionHeader, {
  description: 'A rated transaction without its dimensions.',
});

export const RatedTransaction = Type.Object(
  {
    ...RatedTransactionHeader,
    dimensions: Type.Array(RatedDimension, { description: 'The priced rows.' }),
  },
  { description: 'What a usage event costs an account.' },
);

const lookups = {
  currency: 'currency',
  convCurrency: 'currency',
  usageType: 'usageType',
  chargeType: 'chargeType',
} as const;
const summaryRow = rowSpec('RatedTransaction', RatedTransactionSummary, lookups);
const detailRow = rowSpec('RatedTransaction', RatedTransaction, lookups);

const tag = 'Rated transactions';

export const ratedTransactionOperations = {
  list: operation({
    id: 'listRatedTransactions',
    embed: { filter: 'accountId' },
    method: 'GET',
    path: external('/rated-transactions'),
    tag,
    summary: 'List rated transactions, the latest transaction date first',
    query: Type.Object({
      ...pageQuery,
      ...searchQuery('the externalTranId'),
      accountId: Type.Optional(RecordId('account', 'The billed account.')),
      fromDate: Type.Optional(DateText('First transaction date, inclusive.')),
      toDate: Type.Optional(DateText('Last transaction date, inclusive.')),
    }),
    details: 'A page of rows; filter by billed account and by date.',
    success: reply.rowPage(summaryRow),
    errors: [400, 409],
  }),
  get: operation({
    id: 'getRatedTransaction',
    embed: { record: 'ratedTransaction', param: 'transactionId' },
    method: 'GET',
    path: external('/rated-transactions/{transactionId}'),
    tag,
    summary: 'Read a rated transaction with its dimensions',
    query: Type.Object(viewQuery),
    details: 'What an event, or a period of a subscription, costs an account.',
    success: reply.dto(RatedTransaction, detailRow),
    errors: [400, 404, 409],
  }),
};
