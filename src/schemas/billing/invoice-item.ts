import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { DateText, nullable, Uuid } from '../fields/field.js';

export const Proration = Type.Object(
  {
    days: Type.Integer({ description: 'The days that are charged.' }),
    of: Type.Integer({ description: 'The days of the whole period.' }),
    text: Type.String({ description: 'Both as people read them, such as 16 of 31 days.' }),
  },
  { description: 'Which part of its period a charge is for.' },
);

export const ItemTier = Type.Object(
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
    description: nullable(Type.String({ description: 'What is charged.' })),
    amount: DecimalValue({ description: 'What it costs, without tax.' }),
    tax: DecimalValue({ description: 'Tax on the amount.' }),
    balance: DecimalValue({ description: 'What of amount and tax is not paid.' }),
    creditedAmount: DecimalValue({
      description: 'What credit notes have taken off the amount, without tax.',
    }),
    creditedItemId: nullable(
      Uuid('On a credit note against an invoice, the item that it credits.'),
    ),
    correctedInvoiceId: nullable(
      Uuid('Where it corrects charges of an earlier invoice, that invoice.'),
    ),
    currency: Type.String({ description: 'ISO code of the currency of the invoice.' }),
    volume: DecimalValue({ description: 'How much was charged.' }),
    unit: nullable(
      Type.String({
        description: 'What the volume counts: the label of the attribute, else its name.',
      }),
    ),
    ratePerUnit: nullable(DecimalValue({ description: 'Price per unit, where there is one.' })),
    priceMethodType: nullable(Type.String({ description: 'Price method of the charge.' })),
    chargeType: Type.String({
      description:
        'Usage, Subscription or OTC; Discount is what discounts take off, Maximum, Minimum and Commitment what a period is adjusted by, Credits what grants paid, Credited what of a correction a credit note had given back.',
    }),
    billStartDate: nullable(DateText('First day that it is for.')),
    billEndDate: nullable(DateText('Last day that it is for.')),
    proration: nullable(Proration),
    tiers: Type.Array(ItemTier, {
      description: 'What each tier of a graduated price has charged; empty for other prices.',
    }),
    serviceId: nullable(Uuid('The service charged.')),
    serviceName: nullable(Type.String({ description: 'Name of the service when billed.' })),
    serviceCode: nullable(Type.String({ description: 'Code of the service when billed.' })),
  },
  { description: 'One charge of an invoice.' },
);
