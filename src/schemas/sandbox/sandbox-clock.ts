import { Type } from 'typebox';
import { Count, Instant, nullable, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';

const now = Instant('The time of the tenant.');
const sandbox = Type.Boolean({
  description: 'Whether it is a sandbox, whose time stands still until it is moved.',
});

export const Clock = Type.Object({ now, sandbox }, { description: 'The time of a tenant.' });

export const ClockMove = Type.Object(
  {
    now: Type.Unsafe<string>({
      description: 'The new time: an instant, or a date as its UTC midnight.',
      dateOrInstant: true,
    }),
  },
  { additionalProperties: false, description: 'Where the time is moved to.' },
);

const DoneWork = Type.Object(
  {
    at: Instant('The time of the tenant when it was done.'),
    kind: Type.String({
      description: 'billing-run, audit-usage, holds, grants or overdue-invoices.',
    }),
    count: Type.Integer({
      minimum: 1,
      description: 'How many of them; of grants their wallets, of holds their accounts.',
    }),
    status: Type.Unsafe<'completed' | 'failed'>({
      type: 'string',
      enum: ['completed', 'failed'],
      description: 'How it ended.',
    }),
    executionId: nullable(Uuid('Of a workflow, its execution.')),
  },
  { description: 'What fell due.' },
);

export const MovedClock = Type.Object(
  {
    now,
    sandbox,
    movedFrom: Instant('The time before.'),
    done: Type.Array(DoneWork, {
      description: 'What fell due on the way, in order; the first 1,000.',
    }),
    doneCount: Count('How much fell due in all.'),
    executionId: Uuid('The execution that moved it.'),
  },
  { description: 'The time of a sandbox that was moved.' },
);

const place = { tag: 'Clock', family: 'records', isAddition: true, path: '/v1/clock' } as const;

/** The time of a tenant (spec/beyond.md R243 to R246). */
export const clockOperations = {
  get: operation({
    ...place,
    id: 'getClock',
    method: 'GET',
    summary: 'Read the time of the tenant',
    description: 'The real time, or of a sandbox the time at which it stands.',
    success: reply.dto(Clock),
    errors: [],
  }),
  move: operation({
    ...place,
    id: 'moveClock',
    method: 'POST',
    summary: 'Move the time of a sandbox forward',
    description:
      'What falls due on the way is done in order: schedules of billing runs and audits, grants and holds ' +
      'that expire, invoices that become overdue.',
    details:
      '409 for a tenant that is no sandbox (durabill tenant create --sandbox), and while it is moved; ' +
      '400 where the time lies before that of the tenant. 504 where it takes longer than a request may wait: it goes on.',
    body: ClockMove,
    example: { now: '2030-02-01T00:00:00Z' },
    access: 'operator',
    idempotency: 'flow',
    success: reply.dto(MovedClock),
    errors: [400, 409, 504],
  }),
};
