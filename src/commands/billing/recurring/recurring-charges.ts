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
} from '../../../kernel/time/billing-calendar.js';
import { dayAfter, dayBefore } from '../../../kernel/time/date.js';
import { sharesKey } from '../../../kernel/numbers/share.js';
import { Portions } from '../../../kernel/portions.js';
import type { BillingProblem } from '../../../messages/billing-run.js';
import { RecurringCharge, type ChargedPeriod } from '../../../models/billing/recurring-charge.js';
import {
  daysOf,
  termsOf,
  type BillingAccount,
  type BillingLine,
} from '../../../queries/billing/billing-account.js';
import { loadServices, type BilledService } from '../../../queries/usage/rating-context.js';
import {
  hasRecurring,
  priceRecurring,
  type RecurringPart,
  type RecurringResult,
  type RecurringType,
} from '../../../rating/index.js';
import { chargesMax, TooManyCharges } from '../charge-limit.js';
import { ChargedIndex } from './charged-index.js';
import { findUnchargedDays } from './uncharged-days.js';

/** The accounts to bill, and the lines and services that may charge them. */
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
  /** The accounts of this run, each with the days in which its charges fall due. */
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
  /** The billed account; its window may differ from that of the line's account. */
  readonly accountId: string;
}

/**
 * The charges of accounts, other than usage, that fall due in a run and are not billed yet.
 * Computed in portions, since a small request may result in many charges (docs/decisions/0280).
 * @throws TooManyCharges
 */
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
  if (!services) throw new TooManyCharges('The services have more than 256 MiB of prices');
  const portions = new Portions();
  const candidates: Candidate[] = [];
  const cutoffs: { readonly lineId: string; readonly until: string }[] = [];
  const billedBy = billedAccounts();
  for (const line of lines) {
    const service = services.get(line.serviceId);
    if (!service) continue;
    for (const candidate of candidatesOf(line, service, billedBy(line, service), windows)) {
      if (candidates.push(candidate) > chargesMax) throw new TooManyCharges();
      if (portions.isOver) await portions.rest();
    }
    const until = usageDueUntil(termsOf(line, service), daysOf(line), run.last);
    if (until < run.last) {
      for (const lineId of [line.id, ...line.formerIds]) cutoffs.push({ lineId, until });
    }
    if (portions.isOver) await portions.rest();
  }
  const since = sinceOf(earliestPeriod(candidates) ?? run.first);
  const lineageIds = [...new Set(candidates.map(({ line }) => line.lineageId))];
  const charged = await ChargedIndex.of(
    await RecurringCharge.chargedPeriods(db, tenantId, lineageIds, since),
  );
  const dueLines = candidates.filter(
    ({ line, type, isOnce, accountId }) =>
      type === 'Subscription' && !isOnce && accountId === line.account.id,
  );
  const problems = await findUnchargedDays(db, tenantId, dueLines, charged);
  const found = { charges: [], problems, priced: new Map() };
  for (const candidate of candidates) {
    const open = openPart(candidate, charged);
    if (open) price(candidate, open, found);
    if (found.charges.length > chargesMax) throw new TooManyCharges();
    if (portions.isOver) await portions.rest();
  }
  return { windows, charges: found.charges, problems, cutoffs };
}

/**
 * The first day of the periods that recur; undefined when nothing recurs. One-time charges have a
 * period before all others, so they are found for any day.
 */
export function earliestPeriod(
  candidates: readonly { readonly isOnce: boolean; readonly due: DueCharge }[],
): string | undefined {
  let earliest: string | undefined;
  for (const { isOnce, due } of candidates) {
    if (isOnce || (earliest !== undefined && earliest <= due.period.first)) continue;
    earliest = due.period.first;
  }
  return earliest;
}

/** The accounts that rows of a card bill; computed once per service for all its lines. */
function billedAccounts(): (line: BillingLine, service: BilledService) => readonly string[] {
  const named = ({ cards }: Pick<BillingLine, 'cards'>): string[] =>
    cards.flatMap(({ rows }) =>
      rows.flatMap(({ billingAccountId }) => (billingAccountId === null ? [] : [billingAccountId])),
    );
  const known = new Map<BilledService, readonly string[]>();
  return (line, service) => {
    const ofService = known.get(service) ?? [...new Set(named(service))];
    known.set(service, ofService);
    return [...named(line), ...ofService];
  };
}

/** One day earlier, since it is also checked whether the day before is charged. */
const sinceOf = (first: string): string =>
  first > oncePeriod.first ? dayBefore(first) : oncePeriod.first;

/**
 * The charges of a line for the accounts of this run: the line's account, those that share the
 * line, and those that rows bill.
 */
function* candidatesOf(
  line: BillingLine,
  service: BilledService,
  others: readonly string[],
  windows: ReadonlyMap<string, Days>,
): Generator<Candidate> {
  const shares = (line.shares ?? []).map(({ accountId }) => accountId);
  const accountIds = new Set([line.account.id, ...shares, ...others]);
  const [terms, days] = [termsOf(line, service), daysOf(line)];
  for (const accountId of accountIds) {
    const window = windows.get(accountId);
    if (!window) continue;
    const of = (type: RecurringType, isOnce: boolean, due: DueCharge): Candidate => ({
      line,
      service,
      type,
      isOnce,
      due,
      accountId,
    });
    const once = dueOnce(days, window);
    if (once && hasRecurring(service, 'OTC')) yield of('OTC', true, once);
    if (!hasRecurring(service, 'Subscription')) continue;
    if (!isChargedOnce(terms)) {
      for (const due of dueCharges(terms, days, window)) yield of('Subscription', false, due);
    } else if (once) yield of('Subscription', true, once);
  }
}

interface OpenPart {
  readonly billed: Days;
  /**
   * Whether the preceding days were charged under another period: then only the remaining days
   * cost.
   */
  readonly isPart: boolean;
}

/**
 * Whether a period is already charged with regard to an account: to the account itself, or, for its
 * present share of the line, to the account that bore it before the shares or the contract's
 * account changed.
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

/** The part of a due period that is not charged yet; null when all of it is. */
function openPart(
  { type, isOnce, due, ...candidate }: Candidate,
  charged: ChargedIndex,
): OpenPart | null {
  const isPaid = isPaidFor(candidate);
  const { lineageId } = candidate.line;
  const { period, billed } = due;
  if (isOnce) {
    return charged.ofLineage(lineageId, type).some(isPaid) ? null : { billed, isPart: false };
  }
  const overlapping = charged.during(lineageId, type, period).filter(isPaid);
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

/** Prices of shared lines by line, charge and days. */
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
  // All accounts that share the line use one price.
  const key = JSON.stringify([line.id, type, period, billed, isPart]);
  const request = { type, account, service, line, period, billed, isPart };
  const priced = into.priced.get(key) ?? priceRecurring(request);
  if (line.shares && line.shares.length > 0) into.priced.set(key, priced);
  if (!priced.ok) {
    // Reported once, with the account of the line.
    if (accountId !== account.id) return;
    into.problems.push({
      accountId,
      contractServiceId: line.id,
      chargeType: type,
      periodStart: period.first,
      code: priced.code,
      message: priced.message,
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
