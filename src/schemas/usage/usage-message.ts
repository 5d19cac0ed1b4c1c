import { Type, type TUnsafe } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Instant, Uuid } from '../fields/field.js';

/** A text that names something; rating refuses an empty one. */
const Reference = (description: string): TUnsafe<string> =>
  Type.Unsafe<string>({ type: 'string', minLength: 1, maxLength: 255, description });

/** A usage event as rating takes it (docs/decisions/0252): the gateway checks only that it is an object. */
export const UsageMessage = Type.Object(
  {
    externalTransactionId: Reference(
      'Your id of the event; one that was rated before is a duplicate.',
    ),
    serviceId: Uuid('The service that was used.'),
    eventTimestamp: Instant('When it was used; prices of that moment hold.'),
    billingAccountRef: Reference('externalId of the account that used it.'),
    dimensions: Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      minProperties: 1,
      additionalProperties: Type.String({ description: 'The value as text.' }),
      description:
        'Values by the names of attributes of the service, all as text: {"API calls": "1500"}.',
    }),
    quantity: Type.Optional(
      DecimalValue({ minimum: '0', description: 'Volume of attributes without a dimension.' }),
    ),
    serviceInstanceId: Type.Optional(
      Type.String({ description: 'Which line of a contract, where the account has several.' }),
    ),
    priceUnitLabel: Type.Optional(
      Type.String({ description: 'What is counted; for your own use.' }),
    ),
  },
  { description: 'A usage event. What does not fit is taken too, and rejected while it is rated.' },
);

/** Events as MCP clients simulate them: without the key, which only the log has a use for. */
export const SimulatedUsage = Type.Array(
  Type.Object({ message: UsageMessage }, { description: 'An event, as it would be sent.' }),
  { minItems: 1, maxItems: 1000, description: 'Events in the order in which they are rated.' },
);
