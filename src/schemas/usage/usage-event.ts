import { Type, type Static } from 'typebox';
import { rejectionCodes } from '../../rating/index.js';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Explanation } from './explanation.js';
import { examples } from '../openapi/examples.js';
import { IngestionBody } from './ingestion.js';
import { Count, Instant, nullable, Text, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { Flag, knownOnQuery, offsetQuery, timeRangeQuery } from '../http/paging.js';
import {
  BilledBefore,
  BillingInvoice,
  ChargeCorrection,
  RatedTransaction,
} from './rated-transaction.js';
import { RecordId } from '../http/record-id.js';

/** Why an event is rejected (spec/rating.md R60). */
export const usageRejectionCodes = [
  ...rejectionCodes,
  'DUPLICATE_CONFLICT',
  'INTERNAL_ERROR',
] as const;

const statuses = ['pending', 'rated', 'rejected', 'duplicate', 'canceled'] as const;

const oneOf = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: values, description });

const Status = oneOf(statuses, 'Its status.');
const Code = oneOf(usageRejectionCodes, 'Why it was rejected.');

const UsageEventFields = {
  id: nullable(Uuid('Id of the event; null in a simulation.')),
  externalTransactionId: nullable(
    Type.String({ description: "The producer's id; null when it cannot be read." }),
  ),
  status: Status,
  code: nullable(Code),
  reason: nullable(Type.String({ description: 'What has to be mended.' })),
  billingAccountRef: nullable(Type.String({ description: 'External id of the account.' })),
  accountId: nullable(Uuid('The account, where one has that external id.')),
  serviceId: nullable(Uuid('The service that the event names.')),
  eventTimestamp: nullable(Instant('When the usage occurred, in UTC.')),
  originalId: nullable(Uuid('The event that this one repeats or contradicts.')),
  topic: Type.String({ description: "The tenant's topic." }),
  partition: Type.Integer({ description: 'Partition of the topic.' }),
  offset: nullable(Type.Integer({ description: 'Place in the partition.' })),
  morgId: nullable(Type.String({ description: 'Organization of the event.' })),
  workflowId: nullable(Type.String({ description: 'Workflow that processed it.' })),
  runId: nullable(Type.String({ description: 'Run of that workflow.' })),
  receivedAt: nullable(Instant('When the broker took it.')),
  processedAt: nullable(Instant('When it was rated, rejected or recognized as a duplicate.')),
  messageNote: nullable(
    Type.String({
      description:
        'When and why its message went, and what explains its charges; null while it is there.',
    }),
  ),
};

/** What the list shows. */
export const UsageEventSummary = Type.Object(UsageEventFields, {
  description: 'A usage event and what became of it.',
});

export const ExplainedTransaction = Type.Object(
  {
    ...RatedTransaction.properties,
    correction: ChargeCorrection,
    explanation: nullable(Explanation),
    matches: Type.Boolean({
      description: 'Whether computing it again, from what was recorded, gives the stored amounts.',
    }),
    invoice: Type.Optional(nullable(BillingInvoice)),
    billedBefore: Type.Optional(nullable(BilledBefore)),
  },
  { description: 'A rated transaction that explains itself.' },
);

export const UsageEvent = Type.Object(
  {
    ...UsageEventFields,
    ratedTransactions: Type.Array(ExplainedTransaction, { description: 'What it was rated to.' }),
    message: Type.Unknown({
      description: 'The event as it was sent; null where messageNote says that it is gone.',
    }),
  },
  { description: 'A usage event, what became of it, and why it costs what it costs.' },
);

const Tally = {
  accepted: Count('Events that the broker has taken.'),
  rated: Count('Events that were rated.'),
  duplicate: Count('Repeats of another event.'),
  rejected: Count('Events that could not be rated.'),
  canceled: Count('Events that were canceled.'),
  pending: Count('Events that wait to be rated.'),
};

export const UsageSummary = Type.Object(
  {
    ...Tally,
    partitions: Type.Array(
      Type.Object(
        { partition: Type.Integer({ description: 'Partition of the topic.' }), ...Tally },
        { description: 'The same of one partition.' },
      ),
      { description: 'The same by partition.' },
    ),
  },
  { description: 'accepted = rated + duplicate + rejected + canceled + pending.' },
);

const reach = {
  accountId: Type.Optional(
    RecordId(
      'account',
      'Events of this account; without duplicates, and without what is INVALID_EVENT or INTERNAL_ERROR: their account is not kept.',
    ),
  ),
  serviceId: Type.Optional(RecordId('service', 'Events of this service.')),
  // Compared with eventTimestamp.
  ...timeRangeQuery('Events'),
};

/** What rejected events are chosen by; those of a list, beside their status, too. */
export const eventFilter = {
  ...reach,
  code: Type.Optional(Code),
  externalTransactionId: Type.Optional(Text("The producer's id.")),
};

export const RetryBody = writeBody(
  {
    ...eventFilter,
    status: Type.Optional(Type.Literal('rejected', { description: 'Only rejected ones can be.' })),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Whether it is only said what that would come to.' }),
    ),
  },
  { description: 'Which rejected events to rate again: all of them when nothing is given.' },
);
export type RetryBody = Static<typeof RetryBody>;

export const RejectionReason = Type.Object(
  { code: Code, events: Count('Events that were rejected for it.') },
  { description: 'A reason.' },
);

export const RetryResult = Type.Object(
  {
    retried: Count('Rejected events that were tried again.'),
    rated: Count('Those that were rated.'),
    rejected: Count('Those that were rejected again.'),
    executionId: Type.Optional(Uuid('The execution of `retry-usage` that has tried them.')),
    dryRun: Type.Optional(
      Type.Literal(true, { description: 'Of a dry run alone: nothing was written.' }),
    ),
    isComplete: Type.Optional(
      Type.Boolean({
        description: 'Of a dry run alone: whether these are all; at most the first 500 are rated.',
      }),
    ),
    sums: Type.Optional(
      Type.Array(
        Type.Object(
          {
            currency: Type.String({ description: 'ISO code.' }),
            amount: DecimalValue({ description: 'The sum of their charges.' }),
          },
          { description: 'What they would cost in a currency.' },
        ),
        { description: 'Of a dry run alone: what those that would be rated would cost.' },
      ),
    ),
    reasons: Type.Optional(
      Type.Array(RejectionReason, {
        description:
          'Of a dry run alone: why the others would be rejected, the most frequent first.',
      }),
    ),
  },
  { description: 'What came of a retry.' },
);

/** How much of the usage log one question may cover. */
export const outcomeRangesMax = 1_000;
export const outcomeEventsMax = 100_000;
const outcomesShownMax = 100;

export const OutcomesBody = writeBody(
  {
    ranges: Type.Array(
      Type.Object(
        {
          partition: Type.Integer({ minimum: 0, maximum: 4095, description: 'Partition.' }),
          from: Type.Integer({ minimum: 0, description: 'First offset.' }),
          to: Type.Integer({ minimum: 0, description: 'The offset after the last one.' }),
        },
        { additionalProperties: false, description: 'Offsets of a partition, [from, to).' },
      ),
      {
        minItems: 1,
        maxItems: outcomeRangesMax,
        description: 'As ingestion answered with them; 100,000 events together.',
      },
    ),
  },
  { description: 'Places of the usage log.' },
);
export type OutcomesBody = Static<typeof OutcomesBody>;

export const UsageOutcomes = Type.Object(
  {
    ...Tally,
    reasons: Type.Array(RejectionReason, {
      description: 'Why events were rejected, the most frequent first.',
    }),
    rejectedEvents: Type.Array(UsageEventSummary, {
      maxItems: outcomesShownMax,
      description: 'The first of them by partition and offset, at most 100.',
    }),
  },
  {
    description:
      'What became of these events: accepted = rated + duplicate + rejected + canceled + pending.',
  },
);

/** As many rejected events are counted by reason at once. */
export const rejectionsMax = 100_000;

export const UsageRejections = Type.Object(
  {
    counted: Count('Rejected events that were counted, the newest of them.'),
    isComplete: Type.Boolean({
      description: `Whether these are all of the filter: false where ${rejectionsMax} were counted.`,
    }),
    reasons: Type.Array(RejectionReason, {
      description: 'Why they were rejected, the most frequent reason first.',
    }),
  },
  { description: 'Rejected events by reason.' },
);

const place = { tag: 'Usage events', family: 'records' } as const;

export const usageEventOperations = {
  list: operation({
    id: 'listUsageEvents',
    embed: { filter: 'accountId' },
    method: 'GET',
    path: '/v1/usage-events',
    ...place,
    summary: 'List usage events, newest first',
    query: Type.Object({ ...offsetQuery, status: Type.Optional(Status), ...eventFilter }),
    details:
      'Filter by what became of them: with status=rejected and a code, those that one mending will help.',
    success: reply.offsetPage(UsageEventSummary),
    errors: [400, 409],
  }),
  summary: operation({
    id: 'getUsageSummary',
    isAddition: true,
    method: 'GET',
    path: '/v1/usage-events/summary',
    ...place,
    summary: 'Count what became of all usage events',
    details:
      'accepted = rated + duplicate + rejected + canceled + pending, at every moment: nothing is lost and nothing is counted twice.',
    success: reply.dto(UsageSummary),
    errors: [],
  }),
  outcomes: operation({
    id: 'getUsageOutcomes',
    weight: 'heavy',
    method: 'POST',
    path: '/v1/usage-events/outcomes',
    ...place,
    summary: 'Count what became of the events at these places of the log',
    description:
      'For who has sent events and wants to know what became of these alone. Repeated ranges count ' +
      'once for each time that they are given.',
    body: OutcomesBody,
    example: { ranges: [{ partition: 3, from: 120, to: 134 }] },
    isReadOnly: true,
    success: reply.dto(UsageOutcomes),
    errors: [400, 409],
  }),
  rejections: operation({
    id: 'countRejectedEvents',
    isAddition: true,
    weight: 'heavy',
    method: 'GET',
    path: '/v1/usage-events/rejections',
    ...place,
    summary: 'Count rejected events by reason',
    details:
      'What one mending helps has one code: list its events with status=rejected and the code, and retry them by it. At most the newest 100,000 are counted.',
    query: Type.Object(reach),
    success: reply.dto(UsageRejections),
    errors: [400],
  }),
  get: operation({
    id: 'getUsageEvent',
    embed: { record: 'usageEvent', param: 'id' },
    weight: 'heavy',
    method: 'GET',
    path: '/v1/usage-events/{id}',
    ...place,
    summary: 'Read a usage event, by our id or the external one, with its explanation',
    details:
      'The explanation goes from the contract line to each tier and formula step; matches says that computing it again gives the same.',
    query: Type.Object({
      knownOn: Type.Optional(knownOnQuery),
      invoices: Flag('Adds `invoice` and `billedBefore`.'),
    }),
    success: reply.dto(UsageEvent),
    errors: [400, 404, 409],
  }),
  retry: operation({
    id: 'retryUsageEvent',
    method: 'POST',
    path: '/v1/usage-events/{id}/retry',
    ...place,
    summary: 'Rate a rejected event again',
    idempotency: 'flow',
    access: 'operator',
    details:
      'After the cause was mended. It takes counters and prices as they are in its own period. 409 unless it is rejected.',
    success: reply.dto(UsageEvent),
    errors: [400, 404, 409, 504],
  }),
  retryAll: operation({
    id: 'retryUsageEvents',
    weight: 'heavy',
    method: 'POST',
    path: '/v1/usage-events/retry',
    ...place,
    summary: 'Rate rejected events again, by filter',
    idempotency: 'flow',
    body: RetryBody,
    example: { code: 'ACCOUNT_NOT_FOUND' },
    access: 'operator',
    details:
      'All of them when nothing is given. Those that stay rejected keep their newest reason. A dry run ' +
      'rates the first 500 and writes nothing.',
    success: reply.dto(RetryResult),
    errors: [400, 409, 504],
  }),
  simulate: operation({
    id: 'simulateUsage',
    weight: 'heavy',
    method: 'POST',
    path: '/v1/usage-events/simulate',
    ...place,
    summary: 'Rate ingestion bodies without writing anything',
    description:
      'An object is answered with one event, an array with an array. The events of an array find the ' +
      'counters where those before left them. That an event was sent before does not matter here. ' +
      'Explanations have 8 MiB together; those of further events are null. Events that are too dear ' +
      'to rate at once are a 400 that says how many can be.',
    body: Type.Unsafe<object>({
      type: ['object', 'array'],
      maxItems: 1000,
      description: 'An ingestion body, or an array of at most 1,000.',
      documented: Type.Union([
        IngestionBody,
        Type.Array(IngestionBody, { maxItems: 1000, description: 'Events in their order.' }),
      ]),
    }),
    example: examples.usageEvent,
    isReadOnly: true,
    success: reply.dto(
      Type.Unsafe<Static<typeof UsageEvent> | Static<typeof UsageEvent>[]>({
        anyOf: [UsageEvent, Type.Array(UsageEvent)],
        description: 'What the event, or each event, would be rated to.',
      }),
    ),
    errors: [400],
  }),
};
