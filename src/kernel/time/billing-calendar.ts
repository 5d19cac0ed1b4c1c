import { dayAfter, dayBefore } from './date.js';
import { isFrequency, periodOf, type Frequency } from './period.js';

/** Calendar days, both inclusive. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

/** How often a contract line is charged and invoiced; the picklist names, null where none is given. */
export interface LineTerms {
  readonly chargeFrequency: string | null;
  readonly billingFrequency: string | null;
  /** Whether a charge falls due when its period begins, instead of when it has ended. */
  readonly isInAdvance: boolean;
}

/** The days on which a line runs; null: without beginning, without end. */
export interface LineDays {
  readonly first: string | null;
  readonly last: string | null;
}

/** A charge that falls due: its period, and the days of it on which the line runs. */
export interface DueCharge {
  readonly period: Days;
  readonly billed: Days;
}

/** The picklist name of what is charged or billed only once. */
const oneTime = 'One Time';

/**
 * The days in which charges must fall due to be on the invoices of a run over a period
 * (docs/decisions/0100); null when the account is not billed by it. An account with a billing day
 * is billed by runs that hold this day (the last of a shorter month); a run of less than a month
 * bills it for what fell due since its billing day before.
 */
export function billingWindow(run: Days, billingDay: number | null): Days | null {
  if (billingDay === null) return run;
  const month = run.first.slice(0, 7);
  const inFirstMonth = dayOfMonth(month, billingDay);
  const isBefore = inFirstMonth < run.first;
  const next = isBefore ? dayOfMonth(monthAfter(month), billingDay) : inFirstMonth;
  if (next > run.last) return null;
  if (run.last >= dayBefore(oneMonthAfter(run.first))) return run;
  const previous = isBefore ? inFirstMonth : dayOfMonth(monthBefore(month), billingDay);
  const since = dayAfter(previous);
  return { first: since < run.first ? since : run.first, last: run.last };
}

/** Lines that are billed more often have their usage on the invoices of every run. */
const longFrequencies: ReadonlySet<string> = new Set(['Quarterly', 'Half Yearly', 'Yearly']);

/**
 * Up to which day the usage of a line is invoiced by a run that ends on `last`: where it is billed
 * less often than by the month, to the end of its last whole billing period, or to its own end.
 */
export function usageDueUntil(terms: LineTerms, line: LineDays, last: string): string {
  const billing = billingFrequencyOf(terms);
  if (billing === null || !longFrequencies.has(billing)) return last;
  if (line.last !== null && line.last <= last) return last;
  const period = daysOf(billing, last);
  return period.last === last ? last : dayBefore(period.first);
}

/**
 * The recurring charges of a line that fall due within the window: in arrears on the last day of the
 * billing period in which the charge period ends, or on the line's last day before that; in advance
 * on the first day of the billing period, or on the line's first.
 */
export function* dueCharges(terms: LineTerms, line: LineDays, window: Days): Generator<DueCharge> {
  const charge = chargeFrequencyOf(terms);
  if (charge === null) return;
  const billing = billingFrequencyOf(terms) ?? charge;
  const end = terms.isInAdvance ? daysOf(billing, window.last).last : window.last;
  const begin = latest(daysOf(charge, daysOf(billing, window.first).first).first, line.first);
  for (let day = begin; day <= end;) {
    const period = daysOf(charge, day);
    const billed = within(period, line);
    if (billed && isDue(terms, billing, { period, billed }, line, window)) {
      yield { period, billed };
    }
    if (line.last !== null && period.last >= line.last) break;
    day = dayAfter(period.last);
  }
}

/** Whether a line is charged only once, when it begins. */
export const isChargedOnce = ({ chargeFrequency }: LineTerms): boolean =>
  chargeFrequency === oneTime;

/** The one-time charge of a line, if it has begun; it is due until it was charged. */
export function dueOnce(line: LineDays, window: Days): DueCharge | null {
  const first = line.first ?? window.last;
  if (first > window.last || (line.last !== null && line.last < first)) return null;
  return { period: oncePeriod, billed: { first, last: first } };
}

/** The period of every one-time charge: a line has one, whenever it begins. */
export const oncePeriod: Days = { first: '0001-01-01', last: '0001-01-01' };

function isDue(
  { isInAdvance }: LineTerms,
  billing: Frequency,
  { period, billed }: DueCharge,
  line: LineDays,
  window: Days,
): boolean {
  if (isInAdvance) {
    const due = latest(daysOf(billing, billed.first).first, line.first);
    return window.first <= due && due <= window.last;
  }
  // What the line's end makes due earlier may have become known later: then it is still due when it
  // would have been without that.
  const usual = daysOf(billing, period.last).last;
  const due = line.last !== null && line.last < usual ? line.last : usual;
  return due <= window.last && window.first <= usual;
}

function within(period: Days, line: LineDays): Days | null {
  const first = latest(period.first, line.first);
  const last = line.last !== null && line.last < period.last ? line.last : period.last;
  return first <= last ? { first, last } : null;
}

const latest = (day: string, other: string | null): string =>
  other !== null && other > day ? other : day;

/** Charges are monthly where neither frequency says otherwise. */
const chargeFrequencyOf = ({ chargeFrequency, billingFrequency }: LineTerms): Frequency | null => {
  if (chargeFrequency === oneTime) return null;
  return known(chargeFrequency) ?? known(billingFrequency) ?? 'Monthly';
};

/** Null: as often as a run asks for it. */
const billingFrequencyOf = ({ billingFrequency }: LineTerms): Frequency | null =>
  known(billingFrequency);

const known = (name: string | null): Frequency | null =>
  name !== null && isFrequency(name) ? name : null;

function daysOf(frequency: Frequency, day: string): Days {
  const { start, end } = periodOf(frequency, day);
  return { first: start, last: dayBefore(end) };
}

const monthAfter = (month: string): string => periodOf('Monthly', `${month}-01`).end.slice(0, 7);
const monthBefore = (month: string): string => dayBefore(`${month}-01`).slice(0, 7);

/** A day of a month, its last where the month is shorter. */
function dayOfMonth(month: string, day: number): string {
  const last = dayBefore(`${monthAfter(month)}-01`);
  const wanted = `${month}-${String(day).padStart(2, '0')}`;
  return wanted < last ? wanted : last;
}

function oneMonthAfter(day: string): string {
  return dayOfMonth(monthAfter(day.slice(0, 7)), Number(day.slice(8)));
}
