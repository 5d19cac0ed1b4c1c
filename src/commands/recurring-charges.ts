import type { Knex } from 'knex';
import {
  billingWindow,
  dueCharges,
  dueOnce,
  isChargedOnce,
  oncePeriod,
  usageDueUntil,
  type Days,
  type DueCharge,
} from '../kernel/billing-calendar.js';
import { dayAfter, dayBefore } from '../kernel/date.js';
import { sharesKey } from '../kernel/share.js';
import type { BillingProblem } from '../kernel/billing-run.js';
import { RecurringCharge, type ChargedPeriod } from '../models/recurring-charge.js';
import {
  daysOf,
  termsOf,
  type BillingAccount,
  type BillingLine,
} from '../queries/billing-account.js';
import { loadServices, type BilledService } from '../queries/rating-context.js';
import {
  hasRecurring,
  priceRecurring,
  type RecurringPart,
  type RecurringResult,
  type RecurringType,
} from '../rating/index.js';
import { findUnchargedDays } from './uncharged-days.js';

/** Accounts to bill, and what may charge them. */
export interface BillingFacts {
  readonly run: Days;
  /** Whether the run is for one account that was named. */
  readonly isNamed: boolean;
  readonly accounts: readonly BillingAccount[];
  readonly lines: readonly BillingLine[];
}

/** A recurring charge that falls due, before it is on an invoice. */
export interface RecurringCharged {
  readonly line: BillingLine;
  readonly service: BilledService;
  readonly type: RecurringType;
  readonly due: DueCharge;
  /** Counted from 0 among the parts of the same line, type, period, account and usage type. */
  readonly position: number;
  readonly part: RecurringPart;
}

export interface RecurringOutcome {
  /** Accounts that this run bills, with the days in which their charges fall due. */
  readonly windows: ReadonlyMap<string, Days>;
  readonly charges: readonly RecurringCharged[];
  readonly problems: readonly BillingProblem[];
  readonly cutoffs: readonly { readonly lineId: string; readonly until: string }[];
}

/** A charge of a line that falls due for an account. */
interface Candidate {
  readonly line: BillingLine;
  readonly service: BilledService;
  readonly type: RecurringType;
  readonly isOnce: boolean;
  readonly due: DueCharge;
  /** Who may be billed: the window of another account may differ. */
  readonly accountId: string;
}

/** What falls due for accounts in a run, beside usage, and is not billed yet. */
export async function findRecurringCharges(
  db: Knex,
  tenantId: string,
  facts: BillingFacts,
): Promise<RecurringOutcome> {
  const { lines, run } = facts;
  const windows = new Map<string, Days>();
  for (const { id, billingDay } of facts.accounts) {
    const window = facts.isNamed ? run : billingWindow(run, billingDay);
    if (window) windows.set(id, window);
  }
  const serviceIds = [...new Set(lines.map(({ serviceId }) => serviceId))];
  const services = await loadServices(db, tenantId, serviceIds);
  const candidates = lines.flatMap((line) => {
    const service = services.get(line.serviceId);
    return service ? candidatesOf(line, service, windows) : [];
  });
  const charged = await RecurringCharge.chargedPeriods(
    db,
    tenantId,
    [...new Set(candidates.map(({ line }) => line.lineageId))],
    sinceOf(earliestPeriod(candidates) ?? run.first),
  );
  const byLineage = new Map<string, ChargedPeriod[]>();
  for (const one of charged) {
    const ofLineage = byLineage.get(one.lineageId);
    if (ofLineage) ofLineage.push(one);
    else byLineage.set(one.lineageId, [one]);
  }
  const charges: RecurringCharged[] = [];
  const dueLines = candidates.filter(
    ({ line, type, isOnce, accountId }) =>
      type === 'Subscription' && !isOnce && accountId === line.account.id,
  );
  const problems = await findUnchargedDays(db, tenantId, dueLines, byLineage);
  const priced: Priced = new Map();
  for (const candidate of candidates) {
    const open = openPart(candidate, byLineage.get(candidate.line.lineageId) ?? []);
    if (open) price(candidate, open, { charges, problems, priced });
  }
  const cutoffs = lines.flatMap((line) => {
    const service = services.get(line.serviceId);
    if (!service) return [];
    const until = usageDueUntil(termsOf(line, service), daysOf(line), run.last);
    if (until >= run.last) return [];
    return [line.id, ...line.formerIds].map((lineId) => ({ lineId, until }));
  });
  return { windows, charges, problems, cutoffs };
}

/**
 * The first day of what falls due again and again; undefined when nothing does. One-time charges have a
 * period before all others, and are looked for whatever the day.
 */
export const earliestPeriod = (
  candidates: readonly { readonly isOnce: boolean; readonly due: DueCharge }[],
): string | undefined =>
  candidates
    .filter(({ isOnce }) => !isOnce)
    .map(({ due }) => due.period.first)
    .sort()[0];

/** With the day before, of which is asked whether it is charged, too. */
const sinceOf = (first: string): string =>
  first > oncePeriod.first ? dayBefore(first) : oncePeriod.first;

/** What a line charges the accounts at hand: its own, those that share it, those that rows bill. */
function candidatesOf(
  line: BillingLine,
  service: BilledService,
  windows: ReadonlyMap<string, Days>,
): Candidate[] {
  const cards = [...line.cards, ...service.cards];
  const billed = cards.flatMap(({ rows }) => rows.map(({ billingAccountId }) => billingAccountId));
  const shares = (line.shares ?? []).map(({ accountId }) => accountId);
  const others = billed.filter((id) => id !== null);
  const accountIds = new Set([line.account.id, ...shares, ...others]);
  const [terms, days] = [termsOf(line, service), daysOf(line)];
  const found: Candidate[] = [];
  for (const accountId of accountIds) {
    const window = windows.get(accountId);
    if (!window) continue;
    const add = (type: RecurringType, isOnce: boolean, due: DueCharge | null): void => {
      if (due) found.push({ line, service, type, isOnce, due, accountId });
    };
    if (hasRecurring(service, 'OTC')) add('OTC', true, dueOnce(days, window));
    if (!hasRecurring(service, 'Subscription')) continue;
    if (isChargedOnce(terms)) add('Subscription', true, dueOnce(days, window));
    else for (const due of dueCharges(terms, days, window)) add('Subscription', false, due);
  }
  return found;
}

interface OpenPart {
  readonly billed: Days;
  /** Whether the days before were charged under another period: the rest costs only its days. */
  readonly isPart: boolean;
}

/**
 * Whether a period is charged as far as an account is concerned: to itself, or, of what it bears of the
 * line now, to whoever bore it before its shares, or the account of its contract, were changed.
 */
function isPaidFor({ line, accountId }: Pick<Candidate, 'line' | 'accountId'>) {
  const shares = line.shares ?? [];
  const bears =
    shares.length === 0
      ? accountId === line.account.id
      : shares.some((share) => share.accountId === accountId);
  const present = sharesKey(shares);
  return (one: ChargedPeriod): boolean =>
    one.accountId === accountId ||
    (bears &&
      (one.sharedBy === null ? one.accountId === one.masterAccountId : one.sharedBy !== present));
}

/** What of a due period is not charged yet; null when nothing is. */
function openPart(
  { type, isOnce, due, ...candidate }: Candidate,
  charged: readonly ChargedPeriod[],
): OpenPart | null {
  const isPaid = isPaidFor(candidate);
  const own = charged.filter((one) => one.chargeType === type && isPaid(one));
  if (isOnce) return own.length > 0 ? null : { billed: due.billed, isPart: false };
  const { period, billed } = due;
  const overlapping = own.filter(
    (one) => one.periodStart <= period.last && one.periodEnd >= period.first,
  );
  if (overlapping.length === 0) return { billed, isPart: false };
  const isSame = overlapping.some(
    (one) => one.periodStart === period.first && one.periodEnd === period.last,
  );
  if (isSame) return null;
  // The charge frequency was changed within the period.
  const until =
    overlapping
      .map(({ billedUntil }) => billedUntil)
      .sort()
      .at(-1) ?? '';
  const first = dayAfter(until);
  return first <= billed.last ? { billed: { first, last: billed.last }, isPart: true } : null;
}

/** Prices of lines that accounts share, by line, charge and days. */
type Priced = Map<string, RecurringResult>;

function price(
  { line, service, type, due, accountId }: Candidate,
  { billed, isPart }: OpenPart,
  into: {
    readonly charges: RecurringCharged[];
    readonly problems: BillingProblem[];
    readonly priced: Priced;
  },
): void {
  const { period } = due;
  const { account } = line;
  // One price serves all who share it.
  const key = JSON.stringify([line.id, type, period, billed, isPart]);
  const request = { type, account, service, line, period, billed, isPart };
  const priced = into.priced.get(key) ?? priceRecurring(request);
  if (line.shares && line.shares.length > 0) into.priced.set(key, priced);
  if (!priced.ok) {
    // Told once, with the account of the line.
    if (accountId !== account.id) return;
    into.problems.push({
      ...{ accountId, contractServiceId: line.id, chargeType: type, periodStart: period.first },
      ...{ code: priced.code, message: priced.message },
    });
    return;
  }
  const counts = new Map<string, number>();
  for (const part of priced.parts) {
    if (part.billedAccountId !== accountId) continue;
    const position = counts.get(part.usageType) ?? 0;
    counts.set(part.usageType, position + 1);
    into.charges.push({ line, service, type, due: { period, billed }, position, part });
  }
}
