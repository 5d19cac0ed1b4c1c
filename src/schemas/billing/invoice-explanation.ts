import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { DateText, nullable, Uuid } from '../fields/field.js';
import { Explanation } from '../usage/explanation.js';
import { ChargeCorrection } from '../usage/rated-transaction.js';
import { ItemTier, Proration } from './invoice-item.js';

/** A rated transaction as a part of an item. */
const ExplainedUsage = Type.Object(
  {
    id: Uuid('Id of the rated transaction.'),
    usageEventId: Uuid('The event that it was rated from.'),
    externalTranId: Type.String({ description: 'The externalTransactionId of the event.' }),
    transactionDate: DateText('Day of the usage.'),
    volume: DecimalValue({ description: 'What of its volume is part of the item.' }),
    amount: DecimalValue({ description: 'What of its amount is part of the item.' }),
    reverses: nullable(Uuid('Of a reversal: the rated transaction that it takes back.')),
    correction: ChargeCorrection,
    explanation: nullable(Explanation),
  },
  { description: 'Usage that is part of an item.' },
);

/** A subscription or one-time charge as the part of an item. */
const ExplainedCharge = Type.Object(
  {
    id: Uuid('Id of the charge.'),
    contractServiceId: Uuid('The contract line.'),
    periodStart: DateText('First day of the charge period; of what is paid once, its day.'),
    periodEnd: DateText('Last day of the charge period; of what is paid once, its day.'),
    billStartDate: DateText('First day that is charged.'),
    billEndDate: DateText('Last day that is charged.'),
    isProrated: Type.Boolean({ description: 'Whether only the charged days are paid.' }),
    proration: nullable(Proration),
    amount: DecimalValue({ description: 'The amount of these days.' }),
    explanation: nullable(Explanation),
  },
  { description: 'A charge of a contract line that is part of an item.' },
);

const ExplainedAdjustment = Type.Object(
  {
    adjustmentId: Uuid('The adjustment.'),
    kind: Type.String({ description: 'maximum, minimum or commitment.' }),
    value: DecimalValue({ description: 'Its value then.' }),
    periodStart: DateText('First day of its period.'),
    periodEnd: DateText('Last day of its period; earlier where it, or its contract, ends.'),
    spent: DecimalValue({
      description: 'What the period had come to before it, after discounts and other adjustments.',
    }),
    amount: DecimalValue({
      description:
        'What it adds, below zero where it takes off, less what was billed for it before.',
    }),
  },
  { description: 'What an adjustment made of a period.' },
);

const ExplainedItem = Type.Object(
  {
    id: Uuid('Id of the item.'),
    description: nullable(Type.String({ description: 'What is charged.' })),
    chargeType: Type.String({ description: 'Usage, Subscription or OTC.' }),
    parts: Type.Integer({ description: 'Of how many transactions or charges it is made.' }),
    sumOfParts: DecimalValue({
      description:
        'The sum of all its parts, exact; of the opposite sign where charges below zero are credited.',
    }),
    exactAmount: nullable(DecimalValue({ description: 'Its amount before the one rounding.' })),
    amount: DecimalValue({ description: 'Its amount, rounded to the minor unit.' }),
    creditedItemId: nullable(
      Uuid('On a credit note against an invoice, the item that it credits: explained there.'),
    ),
    taxCode: nullable(Type.String({ description: 'Tax code of the row of the rate card.' })),
    taxRate: nullable(DecimalValue({ description: 'Tax rate in percent when it was billed.' })),
    tax: DecimalValue({ description: 'Tax on the amount, rounded to the minor unit.' }),
    matches: Type.Boolean({
      description:
        'Whether the parts sum up to the exact amount; of a credit, whether no more is credited than was charged.',
    }),
    transactions: Type.Array(ExplainedUsage, { description: 'Usage, by day; a page of it.' }),
    charges: Type.Array(ExplainedCharge, { description: 'Charges of contract lines.' }),
    adjustments: Type.Array(ExplainedAdjustment, {
      description: 'Of a maximum, minimum or commitment, what it made of its period.',
    }),
  },
  { description: 'An item down to what it is made of.' },
);

const SummarizedRow = Type.Object(
  {
    label: nullable(Type.String({ description: 'Label of the row of the rate card.' })),
    attributeName: Type.String({ description: 'The attribute that it prices.' }),
    priceMethod: Type.String({ description: 'Its price method.' }),
    transactions: Type.Integer({ description: 'How many transactions it priced.' }),
    volume: DecimalValue({ description: 'Their volume.' }),
    amount: DecimalValue({ description: 'What they cost, exact.' }),
  },
  { description: 'What a row of a rate card has charged of an item.' },
);

const SummarizedItem = Type.Object(
  {
    id: Uuid('Id of the item; as `itemId` it brings the detail.'),
    description: nullable(Type.String({ description: 'What is charged.' })),
    amount: DecimalValue({ description: 'Its amount, without tax.' }),
    percent: nullable(DecimalValue({ description: 'Its part of the invoice, in percent.' })),
    volume: DecimalValue({ description: 'How much was charged.' }),
    unit: nullable(Type.String({ description: 'What the volume counts.' })),
    ratePerUnit: nullable(DecimalValue({ description: 'Price per unit; of tiers the average.' })),
    chargeType: Type.String({ description: 'Usage, Subscription or OTC.' }),
    proration: nullable(Proration),
    rows: Type.Array(SummarizedRow, {
      description: 'The rows of the card behind it, the largest first; at most 10.',
    }),
    tiers: Type.Array(ItemTier, {
      description: 'What each tier of a graduated price has charged.',
    }),
  },
  { description: 'One of the largest items.' },
);

const LargeEvent = Type.Object(
  {
    usageEventId: Uuid('The event.'),
    externalTranId: Type.String({ description: 'Its externalTransactionId.' }),
    transactionDate: DateText('Day of the usage.'),
    volume: DecimalValue({ description: 'Its volume on this invoice.' }),
    amount: DecimalValue({ description: 'What it costs on this invoice, exact.' }),
  },
  { description: 'One of the events that cost the most.' },
);

const Change = Type.Object(
  {
    description: nullable(Type.String({ description: 'What is charged.' })),
    chargeType: Type.String({ description: 'Usage, Subscription or OTC.' }),
    amountBefore: DecimalValue({ description: 'On the invoice before; 0: it was not there.' }),
    amount: DecimalValue({ description: 'On this invoice; 0: it is not there any more.' }),
    change: DecimalValue({ description: 'The difference.' }),
    volumeBefore: DecimalValue({ description: 'Volume on the invoice before.' }),
    volume: DecimalValue({ description: 'Volume on this invoice.' }),
  },
  { description: 'How much more or less one kind of charge is.' },
);

const PreviousInvoice = Type.Object(
  {
    invoiceId: Uuid('Id of the invoice before.'),
    invoiceNo: Type.String({ description: 'Its number.' }),
    periodStart: nullable(DateText('First day of its period.')),
    periodEnd: nullable(DateText('Last day of its period.')),
    amount: DecimalValue({ description: 'Its amount, without tax.' }),
    change: DecimalValue({ description: 'By how much this invoice is higher.' }),
    changePercent: nullable(
      DecimalValue({ description: 'The same in percent of it; null where it was 0.' }),
    ),
    changes: Type.Array(Change, {
      description: 'By service, attribute and charge type, the largest first; at most 20.',
    }),
  },
  {
    description:
      'Compared with the posted invoice of the account before this one, of the same type and currency.',
  },
);

const ExplanationSummary = Type.Object(
  {
    previous: nullable(PreviousInvoice),
    items: Type.Array(SummarizedItem, { description: 'The largest items first; at most 20.' }),
    itemCount: Type.Integer({ description: 'How many items there are in all.' }),
    largestEvents: Type.Array(LargeEvent, { description: 'The five that cost the most.' }),
  },
  { description: 'Why the invoice is as high as it is.' },
);

export const InvoiceExplanation = Type.Object(
  {
    invoiceId: Uuid('Id of the invoice.'),
    invoiceNo: Type.String({ description: 'Number of the invoice.' }),
    invoiceStatus: Type.String({ description: 'Posted or Void; the usage of a void one is free.' }),
    creditedInvoiceId: nullable(Uuid('Of a credit note against an invoice, that invoice.')),
    creditReason: nullable(Type.String({ description: 'Why it was credited.' })),
    currency: Type.String({ description: 'ISO code of its currency.' }),
    amount: DecimalValue({ description: 'Sum of the items, without tax.' }),
    taxAmount: DecimalValue({ description: 'Sum of the tax of the items.' }),
    summary: ExplanationSummary,
    items: Type.Array(ExplainedItem, {
      description:
        'The items, in their order. Together they show at most 10,000 transactions and as many charges, ' +
        'and 8 MiB of explanations; further ones are null.',
    }),
    nextItemOffset: nullable(
      Type.Integer({
        description:
          'The `itemOffset` of the items that follow, where the answer would be larger than 16 MiB ' +
          'or have more than 5,000 items; null: none follow.',
      }),
    ),
  },
  { description: 'How an invoice came about.' },
);
