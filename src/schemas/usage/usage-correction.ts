import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Explanation } from './explanation.js';
import { examples } from '../openapi/examples.js';
import { Count, Instant, nullable, optional, Text, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { Flag, offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';
import { eventFilter, RejectionReason } from './usage-event.js';
import { UsageMessage } from './usage-message.js';

const reason = Text('Why; the correction says so.', 1000);

const dryRun = optional(
  Type.Boolean({ description: 'Whether only the figures are wanted: nothing is written.' }),
);

export const CancelBody = writeBody(
  { reason, dryRun },
  { description: 'Why an event is canceled.' },
);
export type CancelBody = Static<typeof CancelBody>;

export const AmendBody = writeBody(
  {
    message: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      freeObject: true,
      description: 'The content that the event gets; its externalTransactionId may be left out.',
      documented: UsageMessage,
    }),
    reason,
    dryRun,
  },
  { description: 'What an event should have said, and why.' },
);
export type AmendBody = Static<typeof AmendBody>;

export const DismissBody = writeBody(
  {
    ...eventFilter,
    reason: Text('Why; each event says so.', 1000),
    until: optional(
      Type.Unsafe<string>({
        description:
          'Those that were accepted before it: what a dry run has answered, so that what is done is ' +
          'what it has said. An instant, or a date as its UTC midnight; without it, now.',
        dateOrInstant: true,
      }),
    ),
    dryRun,
  },
  {
    description:
      'Which rejected events are dismissed: all of them when nothing but a reason is given.',
  },
);
export type DismissBody = Static<typeof DismissBody>;

export const EventsDismissed = Type.Object(
  {
    dismissed: Count('Events that were dismissed, or would be.'),
    isComplete: Type.Boolean({
      description: 'Whether these are all of the filter: false where there are more than 100,000.',
    }),
    reasons: Type.Optional(
      Type.Array(RejectionReason, {
        description: 'Of a dry run alone: why they were rejected, the most frequent reason first.',
      }),
    ),
    until: Type.Optional(
      Instant('Of a dry run alone: those that were accepted before it are counted.'),
    ),
    executionId: Type.Optional(Uuid('The execution that has done it.')),
    dryRun: Type.Optional(
      Type.Literal(true, { description: 'Of a dry run alone: nothing was written.' }),
    ),
  },
  { description: 'What became of rejected events that are not wanted.' },
);

const kinds = ['cancel', 'amend', 'rerate'] as const;

const CurrencySum = Type.Object(
  {
    currency: Type.String({ description: 'ISO code.' }),
    amount: DecimalValue({ description: 'Sum of the charges, to 10 decimal places.' }),
  },
  { description: 'What charges come to in a currency.' },
);
export const sums = (description: string) => Type.Array(CurrencySum, { description });

const AccountSum = Type.Object(
  {
    accountId: Uuid('The billed account.'),
    currency: Type.String({ description: 'ISO code.' }),
    before: DecimalValue({ description: 'What its charges came to.' }),
    after: DecimalValue({ description: 'What they come to now.' }),
  },
  { description: 'What the charges of an account came to.' },
);

export const Kept = Type.Array(
  Type.Object(
    {
      code: Type.String({ description: 'Why.' }),
      events: Count('Events that keep their charges for that reason.'),
    },
    { description: 'A reason.' },
  ),
  { description: 'Events that could no longer be rated: they keep their charges.' },
);

const Figures = {
  events: Count('Events that were considered.'),
  changed: Count('Events whose charges came out different, with those whose counters moved.'),
  rejected: Kept,
  before: sums('What the events cost before, by currency.'),
  after: sums('What they cost now.'),
};

const statuses = ['canceled', 'rated'] as const;

export const EventCorrected = Type.Object(
  {
    eventId: Uuid('The event.'),
    status: Type.Unsafe<(typeof statuses)[number]>({
      type: 'string',
      enum: statuses,
      description: 'What the event is now, or would be.',
    }),
    correctionId: nullable(
      Uuid('The correction; null of a dry run, and where a rejected event was dismissed.'),
    ),
    executionId: Uuid('The execution that has done it.'),
    dryRun: Type.Optional(
      Type.Literal(true, { description: 'Of a dry run alone: nothing was written.' }),
    ),
    preview: Type.Optional(
      Type.Object(
        {
          changed: Figures.changed,
          rejected: Kept,
          before: Figures.before,
          after: sums('What they would cost.'),
        },
        { description: 'Of a dry run alone: what the correction would come to.' },
      ),
    ),
  },
  { description: 'What became of an event.' },
);

const CorrectionFields = {
  id: Uuid('Id of the correction.'),
  kind: Type.Unsafe<(typeof kinds)[number]>({
    type: 'string',
    enum: kinds,
    description: 'cancel or amend of one event, or rerate of a range.',
  }),
  reason: Type.String({ description: 'Why it was corrected.' }),
  actor: nullable(Type.String({ description: 'Who: subject of the token, or access key.' })),
  executionId: Uuid('The execution that has corrected.'),
  eventId: nullable(Uuid('The event that was canceled or amended; null of a range.')),
  from: nullable(Instant('Of a range: its begin.')),
  to: nullable(Instant('Of a range: its end, exclusive.')),
  accountId: nullable(Uuid('Of a range: the only account.')),
  contractId: nullable(Uuid('Of a range: the only contract.')),
  serviceId: nullable(Uuid('Of a range: the only service.')),
  ...Figures,
};

const createdAt = Instant('When it became known.');

export const UsageCorrectionSummary = Type.Object(
  { ...CorrectionFields, createdAt },
  {
    description: 'A correction of rated usage: it has added reversals and new charges.',
  },
);

const accounts = Type.Array(AccountSum, {
  description: 'By account, the greatest differences first, at most 1,000.',
});

export const UsageCorrection = Type.Object(
  { ...CorrectionFields, accounts, createdAt },
  { description: 'A correction of rated usage, with what it came to by account.' },
);

/** How two charges of an event came about, and where they part; null: there is none, or it cannot be told. */
export const ChargeExplanations = {
  beforeExplanation: Type.Optional(nullable(Explanation)),
  afterExplanation: Type.Optional(nullable(Explanation)),
  firstDifference: Type.Optional(
    nullable(
      Type.Object(
        {
          step: Type.String({
            description:
              'Where they part: contract line, card, row, counter, tier, a formula step.',
          }),
          before: Type.Unknown({ description: 'What it was; null: nothing.' }),
          after: Type.Unknown({ description: 'What it is; null: nothing.' }),
        },
        { description: 'The first step in which the two explanations part; null: in none.' },
      ),
    ),
  ),
};

export const CorrectedCharge = Type.Object(
  {
    eventId: Uuid('The event.'),
    externalTransactionId: Type.String({ description: "The producer's id of the event." }),
    accountId: Uuid('The billed account.'),
    serviceId: Uuid('The service.'),
    currency: Type.String({ description: 'ISO code.' }),
    usageType: Type.String({ description: 'Charge or Payout.' }),
    transactionDate: Type.String({ format: 'calendar-date', description: 'Day of the usage.' }),
    before: DecimalValue({ description: 'What it cost before; 0 of a charge that was not there.' }),
    after: DecimalValue({ description: 'What it costs now; 0 of a charge that is gone.' }),
    difference: DecimalValue({ description: 'after - before.' }),
    beforeId: nullable(Uuid('The rated transaction that was reversed.')),
    afterId: nullable(Uuid('The rated transaction in its place.')),
    ...ChargeExplanations,
  },
  { description: 'A charge before and after a correction.' },
);

const tag = 'Corrections';
const family = 'records';

export const usageCorrectionOperations = {
  cancel: operation({
    id: 'cancelUsageEvent',
    method: 'POST',
    path: '/v1/usage-events/{id}/cancel',
    tag,
    family,
    isAddition: true,
    summary: 'Cancel a usage event',
    description:
      'Its charges are reversed, and later events of the same counters and periods that come out ' +
      'different are corrected with it. A rejected event is dismissed.',
    details:
      'Nothing that was rated is changed: reversals and new charges are added. The external id stays ' +
      'taken. 409 when it is canceled already, a duplicate, or still pending after some seconds. A dry ' +
      'run says in `preview` what it would come to, and writes nothing.',
    body: CancelBody,
    example: { reason: 'The meter was read twice.' },
    access: 'operator',
    idempotency: 'flow',
    success: reply.dto(EventCorrected),
    errors: [400, 404, 409, 504],
  }),
  amend: operation({
    id: 'amendUsageEvent',
    method: 'POST',
    path: '/v1/usage-events/{id}/amend',
    tag,
    family,
    isAddition: true,
    summary: 'Give a usage event other content',
    description:
      'It is rated anew with what is in force at its time, in the place that it has in the log; later ' +
      'events whose counters move are corrected with it. Content that cannot be rated is 400 with the ' +
      'reason code, and nothing is changed.',
    details:
      'It may move to another account, service or day. The external id is the same or left out. 409 ' +
      'when it is canceled or a duplicate. A dry run says in `preview` what it would come to, and ' +
      'writes nothing.',
    body: AmendBody,
    example: { message: examples.usageEvent.message, reason: 'Sent in the wrong unit.' },
    access: 'operator',
    idempotency: 'flow',
    success: reply.dto(EventCorrected),
    errors: [400, 404, 409, 504],
  }),
  dismiss: operation({
    id: 'dismissUsageEvents',
    weight: 'heavy',
    method: 'POST',
    path: '/v1/usage-events/dismiss',
    tag,
    family,
    isAddition: true,
    summary: 'Dismiss rejected events, by filter',
    description:
      'Each is canceled: it is never billed, and not tried again. At most the newest 100,000; those ' +
      'that arrive meanwhile are left alone. A dry run counts them by reason, and writes nothing; its ' +
      '`until`, sent back, dismisses those. While one runs, another is a 409.',
    body: DismissBody,
    example: { code: 'ACCOUNT_NOT_FOUND', reason: 'Sent by a test.' },
    access: 'operator',
    idempotency: 'flow',
    success: reply.dto(EventsDismissed),
    errors: [400, 409, 504],
  }),
  list: operation({
    id: 'listCorrections',
    method: 'GET',
    path: '/v1/corrections',
    tag,
    family,
    isAddition: true,
    summary: 'List corrections of rated usage, newest first',
    details: 'What was corrected, by whom, why, and what it came to.',
    query: Type.Object({
      ...offsetQuery,
      eventId: Type.Optional(Uuid('Corrections of this event itself.')),
      accountId: Type.Optional(RecordId('account', 'Ranges of this account alone.')),
    }),
    success: reply.offsetPage(UsageCorrectionSummary),
    errors: [400],
  }),
  get: operation({
    id: 'getCorrection',
    method: 'GET',
    path: '/v1/corrections/{correctionId}',
    tag,
    family,
    isAddition: true,
    summary: 'Read a correction of rated usage',
    details: 'What was corrected, by whom, why, and what it came to, by account too.',
    success: reply.dto(UsageCorrection),
    errors: [404],
  }),
  charges: operation({
    id: 'listCorrectedCharges',
    weight: 'heavy',
    method: 'GET',
    path: '/v1/corrections/{correctionId}/charges',
    tag,
    family,
    isAddition: true,
    summary: 'List the charges of a correction, before and after',
    description:
      'With explain=true, both explanations and the first step in which they part; then at most 100 a page.',
    query: Type.Object({
      ...offsetQuery,
      explain: Flag('Whether both explanations and the first difference are shown.'),
      eventId: Type.Optional(Uuid('Charges of this event alone.')),
    }),
    success: reply.offsetPage(CorrectedCharge),
    errors: [400, 404, 409],
  }),
};
