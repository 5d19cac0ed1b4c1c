import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Instant, nullable, Text } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { halfOpenRangeQuery, knownOnQuery, offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';

export const usageBuckets = ['minute', 'hour', 'day', 'week', 'month', 'none'] as const;
export type UsageBucket = (typeof usageBuckets)[number];

/** The longest range by minute, whose events themselves are read (docs/decisions/0506). */
export const minuteHoursMax = 6;

/** What totals may be grouped by, beside `dimension:<name>`. */
export const usageGroups = ['account', 'service', 'attribute', 'contract', 'usageType'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** What begins the name of a dimension in `groupBy` and among the filters. */
export const dimensionPrefix = 'dimension:';
/** Names in one `groupBy`, and filters by dimensions in one request. */
export const usageGroupsMax = 3;

export const UsageTotal = Type.Object(
  {
    bucket: nullable(
      Instant('When the minute, hour, day, week (from Monday) or month begins; null: none.'),
    ),
    group: Type.Unsafe<Record<string, string | null>>({
      type: 'object',
      additionalProperties: { type: 'string', nullable: true },
      description:
        'Each name of groupBy with its id, of an attribute or a dimension with its value; null: it has none.',
    }),
    currency: Type.String({ description: 'ISO code.' }),
    events: Type.Integer({ minimum: 0, description: 'Rated events that stand, each once.' }),
    quantity: DecimalValue({ description: 'How much was used.' }),
    amount: DecimalValue({ description: 'What it costs, to 10 decimal places.' }),
  },
  { description: 'What was used and what it costs.' },
);

const usageType = Type.Unsafe<'Charge' | 'Payout'>({
  type: 'string',
  enum: ['Charge', 'Payout'],
  description: 'Charge or Payout.',
});

export const usageTotalOperations = {
  list: operation({
    id: 'listUsageTotals',
    embed: { filter: 'account' },
    isAddition: true,
    weight: 'heavy',
    method: 'GET',
    path: '/v1/usage',
    tag: 'Usage events',
    family: 'records',
    summary: 'Sum rated usage by time, account, service, attribute, contract or dimension',
    description:
      'groupBy: up to 3 of account, service, attribute, contract, usageType, dimension:<name>, with ' +
      'commas. Filters have the same names. The currency is always apart.',
    details:
      'By attribute, rows sum what was priced of it; what pricing logic makes of them beyond their sum stands under attribute null. ' +
      'Filter by a dimension as by dimension:region=eu. Exact at every instant, events of the last moment included. By a dimension, events themselves are read: choose a short range; by minute it is of at most 6 hours.',
    query: Type.Object(
      {
        ...halfOpenRangeQuery('Usage'),
        bucket: Type.Unsafe<UsageBucket>({
          type: 'string',
          enum: [...usageBuckets],
          default: 'none',
          description: 'Steps of time, in UTC.',
        }),
        groupBy: Type.Optional(Text('Such as account,service.', 800)),
        account: Type.Optional(RecordId('account', 'The billed account.')),
        service: Type.Optional(RecordId('service', 'The service.')),
        attribute: Type.Optional(Text('Name of the priceable attribute.')),
        contract: Type.Optional(RecordId('contract', 'The contract.')),
        usageType: Type.Optional(usageType),
        knownOn: Type.Optional(knownOnQuery),
        ...offsetQuery,
      },
      { patternProperties: { [`^${dimensionPrefix}.+$`]: Text('Value of the dimension.', 4000) } },
    ),
    success: reply.offsetPage(UsageTotal),
    errors: [400, 409],
  }),
};
