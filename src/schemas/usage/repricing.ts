import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import type { ExecutionStatus } from '../../messages/flow-run.js';
import {
  Count,
  DateText,
  Instant,
  nullable,
  optional,
  Text,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { Flag, offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';
import { PromoteBody, Promoted } from './promoted.js';
import { percent, RepricedAccount, RepricedCharge } from './repriced-account.js';
import { RepricingChange } from './repricing-change.js';
import { Kept, sums } from './usage-correction.js';

const Time = (description: string) => Type.Unsafe<string>({ description, dateOrInstant: true });
const Percent = (description: string) => DecimalValue({ description, minimum: '0' });

const GuardWrite = Type.Object(
  {
    accountChangeMax: optional(
      Percent(
        'How many percent what an account pays may rise or fall; a limit that is met passes.',
      ),
    ),
    totalDecreaseMax: optional(
      Percent('How many percent the total of a currency may fall, likewise.'),
    ),
  },
  { additionalProperties: false, description: 'What the outcome has to keep to be promoted.' },
);

const range = {
  from: Time('Usage from here on: an instant, or a date as its UTC midnight.'),
  to: Time('Usage before here, likewise.'),
};
const serviceIds = optional(
  Type.Array(RecordId('service', 'A service.'), {
    minItems: 1,
    maxItems: 1_000,
    description: 'Only usage of these services.',
  }),
);
const changes = Type.Array(RepricingChange, {
  maxItems: 100,
  description: 'What is laid over what is in force; none: what the books have.',
});

const RepriceData = Type.Object(
  {
    name: Text('What people call it.'),
    ...range,
    accountIds: optional(
      Type.Array(RecordId('account', 'An account.'), {
        minItems: 1,
        maxItems: 10_000,
        description: 'Only usage of these accounts.',
      }),
    ),
    serviceIds,
    changes,
    guard: optional(GuardWrite),
  },
  { additionalProperties: false, description: 'Which usage is rated again, and with what.' },
);
export type RepriceData = Static<typeof RepriceData>;

/** The changes of a repricing, as the steps of its workflow read them again. */
export const RepricingChanges = RepriceData.properties.changes;

/** The workflow that says what usage would cost, as callers execute it by its name. */
export const repriceWorkflow = {
  workflow: 'repriceUsage',
  name: 'reprice',
  title: 'What If',
  description:
    'Rates the recorded usage of a range again with other prices, logic or volumes, beside the books ' +
    'and never in them, and says what each account would pay.',
  data: RepriceData,
  example: {
    name: 'Calls at two cents',
    from: '2026-03-01',
    to: '2026-04-01',
    changes: [{ kind: 'usage', factor: 1.2 }],
    guard: { accountChangeMax: 25 },
  },
} as const;

const ChangeBin = Type.Object(
  {
    from: percent('The end nearer to the lowest change, in percent; null: there is none.'),
    to: percent('The other end; null likewise.'),
    accounts: Count('Accounts whose change is between them, each currency by itself.'),
  },
  {
    description:
      'Accounts by change: the end that is nearer to 0 does not count, and no change is a range of its own.',
  },
);

const Change = Type.Object(
  {
    p5: percent('The 5th percentile of accounts, by nearest rank.'),
    p50: percent('The median.'),
    p95: percent('The 95th percentile.'),
    min: percent('The lowest.'),
    max: percent('The highest.'),
    bins: Type.Array(ChangeBin, {
      description:
        'How many accounts change how much; empty of what was tried before it was counted.',
    }),
  },
  {
    description:
      'The change of what accounts pay, in percent, each currency of an account by itself; accounts that ' +
      'were at zero have none. Null: no account has one.',
  },
);

const Violation = Type.Object(
  {
    limit: Type.String({ description: 'accountChangeMax or totalDecreaseMax.' }),
    max: DecimalValue({ description: 'The limit in percent.' }),
    accountId: nullable(Uuid('The account; null of a total.')),
    currency: Type.String({ description: 'ISO code.' }),
    before: DecimalValue({ description: 'What the charges came to.' }),
    after: DecimalValue({ description: 'What they would come to.' }),
    change: percent('In percent; null: it was at zero.'),
  },
  { description: 'Where a limit is not kept.' },
);

const Guard = Type.Object(
  {
    passed: Type.Boolean({ description: 'Whether all limits are kept.' }),
    accountChangeMax: percent('The limit of what an account pays, in percent; null: none.'),
    totalDecreaseMax: percent('That of how far a total may fall, likewise.'),
    violations: Type.Array(Violation, {
      description: 'Where they are not, totals first, then the greatest changes; at most 100.',
    }),
  },
  { description: 'Whether what was asked of the outcome is kept.' },
);

const statuses: readonly ExecutionStatus[] = [
  'running',
  'completed',
  'failed',
  'canceled',
  'terminated',
  'timed_out',
];

const RepricingFields = {
  id: Uuid('Id of the repricing, and of its execution.'),
  name: Type.String({ description: 'What people call it.' }),
  status: Type.Unsafe<ExecutionStatus>({
    type: 'string',
    enum: statuses,
    description: 'How its execution stands.',
  }),
  actor: nullable(Type.String({ description: 'Who: subject of the token, or access key.' })),
  from: Instant('Usage from here on.'),
  to: Instant('Usage before here.'),
  eventsDone: Count('Events that were rated so far.'),
  eventsTotal: Count('About how many there are, from the counts by day.'),
  events: nullable(Count('Events that were rated.')),
  accounts: nullable(Count('Accounts that pay for them.')),
  rejected: Kept,
  before: sums('What the events cost in the books, by currency.'),
  after: sums('What they would cost.'),
  change: nullable(Change),
  guard: nullable(Guard),
  promotedFrom: nullable(DateText('From which day on.')),
  promotedBy: nullable(Type.String({ description: 'By whom.' })),
  isForced: Type.Boolean({ description: 'Whether that was done although the guard did not pass.' }),
  isRemoved: Type.Boolean({
    description: 'Whether its accounts and charges were removed: those of the newest 20 are kept.',
  }),
};

const RepricingTimes = {
  createdAt: Instant('When it began.'),
  endedAt: nullable(Instant('When it ended.')),
  promotedAt: nullable(Instant('When its prices were put in force.')),
};

export const RepricingSummary = Type.Object(
  { ...RepricingFields, ...RepricingTimes },
  { description: 'What usage would cost with other prices; null and empty until it has ended.' },
);

export const Repricing = Type.Object(
  {
    ...RepricingFields,
    accountIds: nullable(
      Type.Array(Uuid('An account.'), { description: 'The only accounts; null: all.' }),
    ),
    serviceIds: nullable(
      Type.Array(Uuid('A service.'), { description: 'The only services; null: all.' }),
    ),
    changes: Type.Array(
      Type.Unsafe<unknown>({ type: 'object', description: 'A change as it was asked for.' }),
      { description: 'What was laid over what is in force.' },
    ),
    ...RepricingTimes,
  },
  { description: 'What usage would cost with other prices, with what was asked.' },
);

export const PreviewBody = writeBody(
  { accountId: RecordId('account', 'Whose usage.'), ...range, serviceIds, changes },
  { description: 'Which usage of an account is rated again, and with what.' },
);

export const RepricingPreview = Type.Object(
  {
    events: Count('Events that were rated: the first ones.'),
    isWhole: Type.Boolean({ description: 'Whether these are all of them.' }),
    rejected: Kept,
    totals: Type.Array(
      Type.Object(
        {
          currency: Type.String({ description: 'ISO code.' }),
          before: DecimalValue({ description: 'What these events cost in the books.' }),
          after: DecimalValue({ description: 'What they would cost.' }),
          difference: DecimalValue({ description: 'after - before.' }),
          change: percent('The same in percent of before; null: it was at zero.'),
        },
        { description: 'What events come to in a currency.' },
      ),
      { description: 'By currency.' },
    ),
  },
  { description: 'What usage of an account would cost with other prices.' },
);

const sorts = ['change:desc', 'change:asc'] as const;

const place = { tag: 'What if', family: 'records', isAddition: true } as const;

export const repricingOperations = {
  list: operation({
    id: 'listRepricings',
    method: 'GET',
    path: '/v1/repricings',
    ...place,
    summary: 'List what-ifs, newest first',
    details: 'What was tried, how far it is, and what came out.',
    query: Type.Object(offsetQuery),
    success: reply.offsetPage(RepricingSummary),
    errors: [400],
  }),
  get: operation({
    id: 'getRepricing',
    method: 'GET',
    path: '/v1/repricings/{repricingId}',
    ...place,
    summary: 'Read a what-if',
    details: 'With what was asked, and how far it is while it runs.',
    success: reply.dto(Repricing),
    errors: [404],
  }),
  accounts: operation({
    id: 'listRepricedAccounts',
    method: 'GET',
    path: '/v1/repricings/{repricingId}/accounts',
    ...place,
    summary: 'List what accounts would pay',
    details: 'Who pays in two currencies is listed twice. 409 once it was removed for newer ones.',
    query: Type.Object({
      ...offsetQuery,
      sort: Type.Optional(
        Type.Unsafe<(typeof sorts)[number]>({
          type: 'string',
          enum: sorts,
          description: 'By change; accounts that have none are last. change:desc when left out.',
        }),
      ),
    }),
    success: reply.offsetPage(RepricedAccount),
    errors: [400, 404, 409],
  }),
  charges: operation({
    id: 'listRepricedCharges',
    weight: 'heavy',
    method: 'GET',
    path: '/v1/repricings/{repricingId}/accounts/{accountId}/charges',
    ...place,
    summary: 'List the charges of an account, in the books and as they would be',
    description:
      'Each with both explanations and the first step in which they part; then at most 100 a page. ' +
      'With explain=false, without them.',
    query: Type.Object({
      ...offsetQuery,
      sort: Type.Optional(
        Type.Unsafe<'difference:desc'>({
          type: 'string',
          enum: ['difference:desc'],
          description:
            'The largest difference first, up or down, of whatever currency, of at most 50,000 charges. As they were rated when left out.',
        }),
      ),
      explain: Flag('Whether both explanations and the first difference are shown.', true),
    }),
    success: reply.offsetPage(RepricedCharge),
    errors: [400, 404, 409],
  }),
  preview: operation({
    id: 'previewRepricing',
    weight: 'heavy',
    method: 'POST',
    path: '/v1/repricings/preview',
    ...place,
    summary: 'Say at once what usage of an account would cost with other prices',
    details:
      'For somebody who is still choosing prices: nothing is written. The charges of the first 1,000 events ' +
      'of the range, or of fewer where rating them takes long; what minimums, maximums and commitments ' +
      'would make of them is not in it, and trying one is 400. 409 USAGE_ARCHIVED where usage of the range is ' +
      'in the archive alone.',
    body: PreviewBody,
    example: {
      accountId: 'acme',
      from: '2026-03-01',
      to: '2026-04-01',
      changes: [{ kind: 'usage', factor: 1.2 }],
    },
    isReadOnly: true,
    success: reply.dto(RepricingPreview),
    errors: [400, 409],
  }),
  promote: operation({
    id: 'promoteRepricing',
    method: 'POST',
    path: '/v1/repricings/{repricingId}/promote',
    ...place,
    summary: 'Put the prices that were tried in force from a day on',
    details:
      'Makes a version of each card that begins on that day, changes pricing logic, and makes adjustments. ' +
      '409 when the guard ' +
      'did not pass, unless force is true, which the audit keeps; 400 for changes of usage. Nothing is ' +
      'rated again by itself. With dryRun it says what would be made, and nothing is.',
    body: PromoteBody,
    example: { fromDate: '2041-01-01' },
    idempotency: 'flow',
    success: reply.dto(Promoted),
    errors: [400, 404, 409, 504],
  }),
};
