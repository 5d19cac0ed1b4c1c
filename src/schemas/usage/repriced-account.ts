import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Count, DateText, nullable, Uuid } from '../fields/field.js';
import { ChargeExplanations } from './usage-correction.js';

export const percent = (description: string) => nullable(DecimalValue({ description }));

const AdjustedPeriod = Type.Object(
  {
    adjustmentId: nullable(Uuid('The adjustment; null of one that is tried.')),
    kind: Type.String({ description: 'maximum, minimum or commitment.' }),
    value: DecimalValue({ description: 'What is agreed.' }),
    periodStart: DateText('First day of the period.'),
    periodEnd: DateText('Its last day.'),
    spentBefore: DecimalValue({ description: 'What the period came to before it.' }),
    spentAfter: DecimalValue({ description: 'What it would come to.' }),
    before: DecimalValue({ description: 'What it adds or takes off; 0 of one that is tried.' }),
    after: DecimalValue({ description: 'What it would add or take off.' }),
  },
  { description: 'What a minimum, maximum or commitment makes of a period.' },
);

export const RepricedAccount = Type.Object(
  {
    accountId: Uuid('The billed account.'),
    name: nullable(Type.String({ description: 'Its name.' })),
    externalId: nullable(Type.String({ description: 'Its external id.' })),
    currency: Type.String({ description: 'ISO code.' }),
    charges: Count('How many charges.'),
    before: DecimalValue({ description: 'What they come to in the books.' }),
    after: DecimalValue({
      description:
        'What they would come to, with what adjustments would make more or less of them.',
    }),
    difference: DecimalValue({ description: 'after - before.' }),
    change: percent('The same in percent of before; null: it was at zero.'),
    adjustments: Type.Array(AdjustedPeriod, {
      description:
        'Periods of minimums, maximums and commitments that come out different, or that are tried.',
    }),
  },
  { description: 'What an account would pay in a currency.' },
);

export const RepricedCharge = Type.Object(
  {
    eventId: Uuid('The event.'),
    externalTransactionId: Type.String({ description: "The producer's id of the event." }),
    serviceId: Uuid('The service.'),
    currency: Type.String({ description: 'ISO code.' }),
    usageType: Type.String({ description: 'Charge or Payout.' }),
    transactionDate: Type.String({ format: 'calendar-date', description: 'Day of the usage.' }),
    before: DecimalValue({ description: 'What it costs; 0 of a charge that is not in the books.' }),
    after: DecimalValue({ description: 'What it would cost; 0 of a charge that would be gone.' }),
    difference: DecimalValue({ description: 'after - before.' }),
    beforeId: nullable(Uuid('The rated transaction in the books.')),
    ...ChargeExplanations,
  },
  { description: 'A charge in the books, and as it would be.' },
);
