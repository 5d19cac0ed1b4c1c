import type { Knex } from 'knex';
import { oncePeriod, type Days, type DueCharge } from '../../../kernel/time/billing-calendar.js';
import type { BillingProblem } from '../../../messages/billing-run.js';
import { dayAfter, dayBefore } from '../../../kernel/time/date.js';
import { eachInPortions, mapInPortions } from '../../../kernel/portions.js';
import { RecurringCharge, type ChargedPeriod } from '../../../models/billing/recurring-charge.js';
import { daysOf, type BillingLine } from '../../../queries/billing/billing-account.js';
import type { BilledService } from '../../../queries/usage/rating-context.js';
import { ChargedIndex } from './charged-index.js';

/** A subscription of a line that falls due for the account of its contract. */
export interface DueLine {
  readonly line: BillingLine;
  readonly service: BilledService;
  readonly due: DueCharge;
}

/** A line, and the days on which it ran before those that a run charges. */
interface Before extends DueLine {
  readonly days: Days;
}

const subscription = 'Subscription';

/** The days that a charge pays for: a price that is not prorated pays for its whole period. */
const paidDays = ({
  isProrated,
  periodStart,
  periodEnd,
  billedFrom,
  billedUntil,
}: ChargedPeriod): Days =>
  isProrated ? { first: billedFrom, last: billedUntil } : { first: periodStart, last: periodEnd };

/** Whether the line started later than now at the time of the charge. */
const beganLater = ({ lineStart }: ChargedPeriod, days: Days): boolean =>
  lineStart !== null && lineStart > days.first;

/** For each line, the days before its first due day; none for a line that starts on that day. */
async function daysBefore(dueLines: readonly DueLine[]): Promise<Before[]> {
  const earliest = new Map<string, DueLine>();
  for (const one of dueLines) {
    const known = earliest.get(one.line.id);
    if (!known || one.due.billed.first < known.due.billed.first) earliest.set(one.line.id, one);
  }
  const found: Before[] = [];
  await eachInPortions([...earliest.values()], (one) => {
    const { first } = daysOf(one.line);
    const last = dayBefore(one.due.billed.first);
    if (first !== null && first <= last) found.push({ ...one, days: { first, last } });
  });
  return found;
}

/**
 * Whether earlier days may be uncharged: the day before is not charged, or the line's start was
 * moved back since. When a run found the days before its own charged, all days before those were
 * checked, too.
 */
function isSuspect({ line, days }: Before, known: ChargedIndex): boolean {
  const charged = known.ofLineage(line.lineageId, subscription);
  const isAdjacent = charged.some((one) => {
    const paid = paidDays(one);
    return paid.first <= days.last && days.last <= paid.last;
  });
  return !isAdjacent || charged.some((one) => beganLater(one, days));
}

/** The days that none of the charges pays for. */
function gapsIn({ first, last }: Days, charged: readonly ChargedPeriod[]): Days[] {
  const gaps: Days[] = [];
  let from = first;
  const paid = charged.map(paidDays).sort((a, b) => (a.first < b.first ? -1 : 1));
  for (const days of paid) {
    if (days.first > last) break;
    if (days.first > from) gaps.push({ first: from, last: dayBefore(days.first) });
    if (days.last >= from) from = dayAfter(days.last);
  }
  if (from <= last) gaps.push({ first: from, last });
  return gaps;
}

/**
 * The uncharged days that may have been forgotten: not those before the first charge of a line that
 * had already started by then, nor those before the line was created.
 */
function missedDays({ line, days }: Before, charged: readonly ChargedPeriod[]): Days[] {
  const gaps = gapsIn(days, charged);
  if (charged.length === 0) return gaps.filter(({ last }) => line.knownSince <= last);
  const start = charged.map((one) => paidDays(one).first).sort()[0] ?? '';
  const wasMovedBack = charged.some((one) => beganLater(one, days));
  return gaps.filter(({ first }) => first > start || wasMovedBack);
}

const gapsShown = 3;

function problemOf({ line, service }: Before, gaps: readonly Days[]): BillingProblem {
  const shown = gaps.slice(0, gapsShown).map(({ first, last }) => `${first} to ${last}`);
  const more = gaps.length > gapsShown ? [`${gaps.length - gapsShown} more`] : [];
  return {
    accountId: line.account.id,
    contractServiceId: line.id,
    chargeType: subscription,
    periodStart: gaps[0]?.first ?? null,
    code: 'DAYS_NOT_CHARGED',
    message:
      `'${service.name}' of contract ${line.contractNumber} ran on ${[...shown, ...more].join(', ')} ` +
      'and no invoice charges these days: bill a period that ends with them, or, where an invoice ' +
      'has other days of the same period, void it and bill the period again.',
  };
}

/**
 * Finds days of subscriptions that precede those of this run and are on no invoice
 * (docs/decisions/0274): a frequency was changed before its last period was billed, a start was
 * moved back, a run was left out, an invoice was voided.
 */
export async function findUnchargedDays(
  db: Knex,
  tenantId: string,
  dueLines: readonly DueLine[],
  known: ChargedIndex,
): Promise<BillingProblem[]> {
  const suspects: Before[] = [];
  await eachInPortions(await daysBefore(dueLines), (one) => {
    if (isSuspect(one, known)) suspects.push(one);
  });
  const [first] = suspects;
  if (first === undefined) return [];
  const since = suspects.reduce(
    (least, { days }) => (days.first < least ? days.first : least),
    first.days.first,
  );
  const lineages = [...new Set(suspects.map(({ line }) => line.lineageId))];
  const all = await ChargedIndex.of(
    await RecurringCharge.chargedPeriods(db, tenantId, lineages, since),
  );
  const problems = await mapInPortions(suspects, (one) => {
    const charged = all.ofLineage(one.line.lineageId, subscription);
    // A one-time charge covers all days.
    if (charged.some(({ periodEnd }) => periodEnd === oncePeriod.last)) return [];
    const gaps = missedDays(one, charged);
    return gaps.length === 0 ? [] : [problemOf(one, gaps)];
  });
  return problems.flat();
}
