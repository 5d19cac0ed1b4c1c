import { Type, type Static } from 'typebox';
import { optional, Text } from '../fields/field.js';
import { RecordId } from '../http/record-id.js';

const Time = (description: string) => Type.Unsafe<string>({ description, dateOrInstant: true });

const RerateData = Type.Object(
  {
    from: Time('Usage from here on: an instant, or a date as its UTC midnight.'),
    to: Time('Usage before here, likewise.'),
    accountId: optional(RecordId('account', 'Only usage of this account.')),
    contractId: optional(RecordId('contract', 'Only usage of this contract.')),
    serviceId: optional(RecordId('service', 'Only usage of this service.')),
    reason: Text('Why; the correction says so.', 1000),
    dryRun: optional(
      Type.Boolean({ description: 'Whether only the figures are wanted: nothing is written.' }),
    ),
  },
  { additionalProperties: false, description: 'What is rated again, and why.' },
);
export type RerateData = Static<typeof RerateData>;

/** The workflow that rates a range again, as callers execute it by its name. */
export const rerateUsageWorkflow = {
  workflow: 'rerateUsage',
  name: 'rerate-usage',
  title: 'Rating of Usage again',
  description:
    'Rates what happened in a range again with what is in force now. Charges that come out different ' +
    'are reversed and made again; a dry run gives the same figures and writes nothing. An event that ' +
    'can no longer be rated keeps its charges.',
  data: RerateData,
  example: {
    from: '2026-03-01',
    to: '2026-04-01',
    reason: 'The card had the wrong price.',
    dryRun: true,
  },
} as const;
