import { Type } from 'typebox';
import { Count, DateText, Instant, nullable, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';

/** What is counted of work that waits, runs or failed: more is not looked at. */
export const countedMax = 10_000;
/** Executions of which is told that they failed. */
export const failuresMax = 10;
/** For how long ago usage is counted by minute, and what failed is told. */
export const ratedMinutes = 60;
export const failedHours = 24;

const UpTo = (description: string) =>
  Type.Integer({ minimum: 0, maximum: countedMax, description: `${description} At most 10,000.` });

const parts = Type.Object(
  {
    database: Type.Boolean({ description: 'PostgreSQL, which has everything.' }),
    broker: Type.Boolean({ description: 'The log that usage events stream through.' }),
    temporal: Type.Boolean({ description: 'Temporal, which runs workflows.' }),
    worker: nullable(
      Type.Boolean({
        description:
          'The workers of the process that answers; null: it has none, and knows of no others.',
      }),
    ),
  },
  { description: 'Which parts of the instance answer.' },
);

const RatedMinute = Type.Object(
  {
    minute: Instant('When it began.'),
    rated: Count('Events that were rated.'),
    rejected: Count('Events that could not be.'),
    duplicate: Count('Repeats of another event.'),
  },
  { description: 'What rating did in a minute; retries and corrections are not among it.' },
);

const usage = Type.Object(
  {
    rejected: Count(
      'Events that are rejected, whenever they came, and wait until they are mended.',
    ),
    pending: nullable(Count('Events that wait to be rated; null: the broker does not answer.')),
    pendingSince: nullable(Instant('When the oldest of them was accepted; null: none is known.')),
    totalsPendingSince: nullable(
      Instant(
        'Since when rated usage waits to be added to totals and lists, which count it all the same; null: none waits.',
      ),
    ),
    minutes: Type.Array(RatedMinute, {
      maxItems: ratedMinutes,
      description:
        'The running minute and the 59 before it, the oldest first; where nothing was rated, none.',
    }),
    minutesSince: nullable(
      Instant('Since when they are counted where there was more to count; null: all of them are.'),
    ),
  },
  { description: 'How far rating is.' },
);

const LastAudit = Type.Object(
  {
    executionId: Uuid('The execution of audit-usage.'),
    status: Type.String({ description: 'completed, failed, canceled, terminated or timed_out.' }),
    periodStart: nullable(
      DateText('First day that it compared; null: it ended before it had begun to.'),
    ),
    periodEnd: nullable(DateText('Last day that it compared.')),
    completedAt: Instant('When it ended.'),
    events: nullable(
      Count('Events that it looked at, all or a sample; null: it was not completed.'),
    ),
    samplePercent: nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description:
          'Of how many of a hundred events the charges were computed again; null: it ended before it had begun to.',
      }),
    ),
    unchecked: nullable(
      Count('Those of them that it could not compute again; null: it was not completed.'),
    ),
    differences: nullable(Count('Figures that differ; null: it was not completed.')),
  },
  { description: 'An audit of usage.' },
);

const webhooks = Type.Object(
  {
    pending: UpTo('Deliveries that are on their way, or wait for another attempt.'),
    failed: UpTo('Deliveries that were given up in the last 24 hours.'),
    failing: Count('Webhooks that nothing reaches now.'),
    failingSince: nullable(Instant('Since when nothing reaches the first of them; null: none.')),
  },
  { description: 'What webhooks were told.' },
);

const FailedExecution = Type.Object(
  {
    executionId: Uuid('The execution.'),
    workflowId: Uuid('Its workflow.'),
    workflowName: Type.String({ description: 'The name of that.' }),
    status: Type.String({ description: 'failed, timed_out or terminated.' }),
    completedAt: Instant('When it ended.'),
    message: nullable(Type.String({ description: 'Why, in short.' })),
  },
  { description: 'An execution that failed.' },
);

const executions = Type.Object(
  {
    running: UpTo('Executions that run, those that wait for somebody among them.'),
    runningSince: nullable(Instant('When the oldest of them began; null: none runs.')),
    failed: UpTo(
      'Executions that failed in the last 24 hours; previews (dryRun) that were refused are not among them.',
    ),
    failures: Type.Array(FailedExecution, {
      maxItems: failuresMax,
      description: 'The last of these.',
    }),
  },
  { description: 'How executions of workflows stand.' },
);

const used = (of: string) => ({
  limit: Count(`The most ${of} of a minute.`),
  used: Count(
    'How many there were in the running minute; as many as the limit where it is used up.',
  ),
});

const limits = Type.Object(
  {
    requests: Type.Object(used('requests'), {
      description:
        'Requests of workflows, executions, webhooks and records, which the plan limits; no others are counted.',
    }),
    usageEvents: nullable(
      Type.Object(used('usage events'), {
        description: 'Usage events that are sent; null: this instance does not limit them.',
      }),
    ),
    refused: Count('Requests that were refused since then with 429, for whichever limit.'),
    refusedSince: nullable(
      Instant('When they began to be, at most an hour ago; null: none was in the last hour.'),
    ),
  },
  { description: 'How much of its limits the tenant uses.' },
);

export const TenantStatus = Type.Object(
  {
    at: Instant('When this was so.'),
    parts,
    limits,
    usage,
    audit: nullable(LastAudit),
    webhooks,
    executions,
  },
  { description: 'What waits, runs and failed; audit: the last audit of usage that ended.' },
);

/** How it goes for a tenant (spec/beyond.md R437, R438). */
export const statusOperations = {
  get: operation({
    id: 'getStatus',
    isAddition: true,
    weight: 'heavy',
    method: 'GET',
    path: '/v1/status',
    tag: 'Status',
    family: 'records',
    summary: 'See how far the work of the tenant is',
    description:
      'What waits to be rated and since when, what was rated by minute in the last hour, the last audit of ' +
      'usage, webhooks and executions that wait or failed, how much of its limits is used and what was ' +
      'refused, and which parts of the instance answer.',
    details:
      "Of this tenant alone, and at the real time, that of a sandbox's work too. Operators of an instance have metrics of all tenants.",
    success: reply.dto(TenantStatus),
    errors: [],
  }),
};
