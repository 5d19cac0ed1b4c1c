import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { AdjustmentCreate } from '../billing/adjustment.js';
import { PricingLogicWrite } from '../catalog/pricing-logic.js';
import { RateCardWrite } from '../catalog/rate-card.js';
import { CurrencyCode, oneOfBy, optional, Text, Uuid, writeBody } from '../fields/field.js';
import { RecordId } from '../http/record-id.js';

const kind = <const K extends string>(name: K) =>
  Type.Literal(name, { description: 'What is changed.' });
const { rows } = RateCardWrite.properties;

const RateCardChange = writeBody(
  {
    kind: kind('rateCard'),
    serviceId: RecordId('service', 'The service whose prices are tried.'),
    currency: CurrencyCode('Currency of the card, by code or name.'),
    rows,
  },
  { description: "Other prices of a service, in place of its card's in this currency." },
);
export type RateCardChange = Static<typeof RateCardChange>;

const ExceptionCardChange = writeBody(
  {
    kind: kind('exceptionCard'),
    contractServiceId: Uuid('The contract line whose prices are tried.'),
    currency: CurrencyCode('Currency of the card, by code or name.'),
    rows,
  },
  { description: 'Other prices of a contract line, whether or not it has prices of its own.' },
);
export type ExceptionCardChange = Static<typeof ExceptionCardChange>;

const PricingLogicChange = writeBody(
  {
    kind: kind('pricingLogic'),
    serviceId: RecordId('service', 'The service whose logic is tried.'),
    ...PricingLogicWrite.properties,
  },
  { description: 'A pricing logic in place of the one of its name, or one more.' },
);
export type PricingLogicChange = Static<typeof PricingLogicChange>;

const UsageChange = writeBody(
  {
    kind: kind('usage'),
    factor: DecimalValue({ description: 'What quantities are multiplied by.', minimum: '0' }),
    serviceId: optional(RecordId('service', 'Only usage of this service.')),
    attribute: optional(Text('Only this dimension; all that are priced when left out.')),
  },
  { description: 'More usage, or less.' },
);
export type UsageChange = Static<typeof UsageChange>;

const AdjustmentChange = writeBody(
  { kind: kind('adjustment'), adjustment: AdjustmentCreate },
  {
    description:
      'One more discount, minimum, maximum or commitment, as POST /v1/adjustments takes it.',
  },
);
export type AdjustmentChange = Static<typeof AdjustmentChange>;

/**
 * What may be changed. Another kind is one more form here, one more in
 * `commands/usage/repricing/change-kinds.ts`, and what it lays over in
 * `queries/usage/repricing/changed-facts.ts`.
 */
export const RepricingChange = oneOfBy(
  'kind',
  [RateCardChange, ExceptionCardChange, PricingLogicChange, UsageChange, AdjustmentChange] as const,
  { description: 'A change; its fields depend on kind.' },
);
export type RepricingChange = Static<typeof RepricingChange>;
