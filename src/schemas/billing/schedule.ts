import { Type, type Static } from 'typebox';
import { scheduleFrequencies } from '../../kernel/time/schedule-calendar.js';
import { scheduledJobs } from '../../messages/sandbox/sandbox-clock.js';
import { DateText, Instant, nullable, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';

const every = Type.Unsafe<(typeof scheduleFrequencies)[number]>({
  type: 'string',
  enum: [...scheduleFrequencies],
  description: 'The calendar period that is billed or audited once it has ended.',
});
const hour = Type.Integer({
  minimum: 0,
  maximum: 23,
  description: 'Hour of the day after the period, in UTC.',
});
const paused = Type.Boolean({ description: 'Whether nothing begins by it until it goes on.' });

const job = Type.Unsafe<(typeof scheduledJobs)[number]>({
  type: 'string',
  enum: [...scheduledJobs],
  description: 'billing: a billing run of all accounts; audit: an audit of rated usage.',
});

export const Schedule = Type.Object(
  {
    job,
    every,
    hour,
    paused,
    nextAt: nullable(Instant('When it begins next, by the time of the tenant; null: paused.')),
    periodStart: nullable(DateText('First day of the period that is its turn then.')),
    periodEnd: nullable(DateText('Its last day.')),
  },
  { description: 'When billing runs or audits begin by themselves.' },
);
export type ScheduleDto = Static<typeof Schedule>;

export const Schedules = Type.Object(
  {
    schedules: Type.Array(Schedule, { description: 'Those that are set.' }),
    unreadable: Type.Array(job, {
      description:
        'Jobs whose schedule was changed in Temporal itself and cannot be read: they begin by it all the ' +
        'same. It can be removed, and set anew then.',
    }),
  },
  { description: 'What begins by itself.' },
);

export const ScheduleSet = writeBody(
  { every: Type.Optional(every), hour: Type.Optional(hour), paused: Type.Optional(paused) },
  { description: 'When it begins. What is left out stays, at first Monthly, 1 and false.' },
);
export type ScheduleSet = Static<typeof ScheduleSet>;

const place = { tag: 'Schedules', family: 'records', isAddition: true } as const;
const one = { ...place, path: '/v1/schedules/{job}', pathValues: { job: scheduledJobs } } as const;

/** When a tenant is billed and audited by itself (spec/beyond.md R466). */
export const scheduleOperations = {
  list: operation({
    ...place,
    id: 'listSchedules',
    method: 'GET',
    path: '/v1/schedules',
    summary: 'List when billing runs and audits begin by themselves',
    description: 'A job that is not listed has no schedule: it begins when somebody asks for it.',
    success: reply.dto(Schedules),
    errors: [],
  }),
  set: operation({
    ...one,
    id: 'setSchedule',
    weight: 'heavy',
    method: 'PUT',
    summary: 'Set when billing runs or audits begin by themselves, pause them or let them go on',
    description:
      'After each calendar period, at the hour of the next day, that period is billed or audited.',
    details:
      'What is left out of the body stays as it is, so that another time is no leave to go on. What fell ' +
      'due while it was paused is not made up for; a run that is under way goes on.',
    body: ScheduleSet,
    example: { every: 'Monthly', hour: 3, paused: false },
    success: reply.dto(Schedule),
    errors: [404, 409],
  }),
  delete: operation({
    ...one,
    id: 'deleteSchedule',
    weight: 'heavy',
    method: 'DELETE',
    summary: 'Remove the schedule of billing runs or audits',
    description: 'A run that is under way goes on.',
    success: reply.empty(),
    errors: [404],
  }),
};
