import { dayBefore, utcDate } from './date.js';
import { periodOf } from './period.js';

/** How often a schedule does its work: once in each such period, when it is over. */
export const scheduleFrequencies = ['Daily', 'Weekly', 'Monthly'] as const;
export type ScheduleFrequency = (typeof scheduleFrequencies)[number];

/** A period of whole days, inclusive. */
export interface SchedulePeriod {
  readonly periodStart: string;
  readonly periodEnd: string;
}

/** The calendar period that had ended last on a day. */
export function periodBefore(every: ScheduleFrequency, day: string): SchedulePeriod {
  const periodEnd = dayBefore(periodOf(every, day).start);
  return { periodStart: periodOf(every, periodEnd).start, periodEnd };
}

/**
 * When a schedule is due next, strictly after an instant: at its hour (UTC) of the first day of a
 * period.
 */
export function nextOccurrence(every: ScheduleFrequency, hour: number, after: Date): Date {
  const { start, end } = periodOf(every, utcDate(after));
  const due = dueOn(start, hour);
  return due > after ? due : dueOn(end, hour);
}

const dueOn = (day: string, hour: number): Date =>
  new Date(`${day}T${String(hour).padStart(2, '0')}:00:00Z`);
