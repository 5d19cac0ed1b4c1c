import type { Knex } from 'knex';
import { Decimal, decimalText } from '../../../kernel/numbers/money.js';
import { Portions } from '../../../kernel/portions.js';
import type {
  PackedCharges,
  RepricedPortion,
  RepricedSum,
  RepricingRun,
} from '../../../models/usage/repricing/repricing.js';
import {
  nextAccounts,
  ratedAfter,
  ratedOfAccounts,
  type RatedPlace,
  type RatedRange,
} from '../../../models/usage/repricing/rated-in-range.js';
import { readTriedCharges } from '../../../models/usage/repricing/tried-charge.js';
import { standing } from '../../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../../models/usage/plans/rating-plan.js';
import { hasPeriodAdjustments } from '../../billing/adjustments/period-adjustment.js';
import { CounterPlaces } from './counter-places.js';
import { changedPairs, keptPairs, packCharges, type BilledPair } from './packed-charge.js';
import { movesOf, type ChargeMove } from './period-differences.js';
import type { RateEvent, Repriced, Repricer, TriedEvent } from './repricer.js';

/** Events of a portion: some hundred milliseconds of work. */
export const portionMax = 2_000;
/** Accounts that are looked at for it: most of them may have no usage. */
const accountsMax = 500;

/** Which usage is rated again. */
export interface RepricedUsage {
  readonly repricingId: string;
  readonly range: RatedRange;
  readonly accountIds: readonly string[] | null;
  /** Whether minimums, maximums or commitments are tried. */
  readonly hasTriedPeriods: boolean;
}

/** Where a portion begins: behind this account, or within it behind this event. */
export type PortionPlace = Pick<RepricingRun, 'accountId' | 'eventId'>;

/** The events of a portion, account by account, and where the next one begins. */
interface Chosen extends PortionPlace {
  readonly events: readonly RatedPlace[];
  readonly isDone: boolean;
}

/** The id before another one. */
export function idBefore(id: string): string {
  const text = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function choose(
  db: Knex,
  tenantId: string,
  { range, accountIds }: RepricedUsage,
  { accountId, eventId }: PortionPlace,
): Promise<Chosen> {
  if (eventId !== null && accountId !== null) {
    return chooseOf(db, tenantId, range, accountId, eventId);
  }
  const page = { afterId: accountId, accountIds, most: accountsMax };
  const accounts = await nextAccounts(db, tenantId, range, page);
  const [first] = accounts;
  if (!first) return { events: [], isDone: true, accountId, eventId: null };
  if (first.events > portionMax) {
    return chooseOf(db, tenantId, range, first.accountId, idBefore(range.first));
  }
  let events = 0;
  const some = accounts.filter((each) => (events += each.events) <= portionMax);
  const used = some.filter((each) => each.events > 0).map(({ accountId }) => accountId);
  return {
    events: used.length === 0 ? [] : await ratedOfAccounts(db, tenantId, range, used),
    isDone: false,
    accountId: some.at(-1)?.accountId ?? null,
    eventId: null,
  };
}

/** The next events of an account that has more than a portion holds. */
async function chooseOf(
  db: Knex,
  tenantId: string,
  range: RatedRange,
  accountId: string,
  afterId: string,
): Promise<Chosen> {
  const page = { accountId, afterId, most: portionMax };
  const { events, bound } = await ratedAfter(db, tenantId, range, page);
  return { events, isDone: false, accountId, eventId: bound >= range.last ? null : bound };
}

/** What a portion comes to, while it is rated. */
class Collected {
  /** Whether periods are adjusted, so that they may come to something else. */
  readonly hasPeriods: boolean;
  readonly rejected = new Map<string, number>();
  readonly plans = new Map<string, string>();
  readonly moves: ChargeMove[] = [];
  readonly #pairs = new Map<string, BilledPair[1][]>();

  constructor(hasPeriods: boolean) {
    this.hasPeriods = hasPeriods;
  }

  add(pairs: readonly BilledPair[]): void {
    for (const [accountId, pair] of pairs) {
      const known = this.#pairs.get(accountId);
      if (known) known.push(pair);
      else this.#pairs.set(accountId, [pair]);
    }
  }

  reject(code: string): void {
    this.rejected.set(code, (this.rejected.get(code) ?? 0) + 1);
  }

  charges(): PackedCharges[] {
    const rows: PackedCharges[] = [];
    for (const [accountId, pairs] of this.#pairs) {
      // One row for each account of a portion, so that each finds those before it.
      rows.push({ accountId, count: pairs.length, charges: packCharges(pairs) });
    }
    return rows;
  }

  sums(): RepricedSum[] {
    const sums = new Map<string, { before: Decimal; after: Decimal; charges: number }>();
    for (const [accountId, pairs] of this.#pairs) {
      for (const { currency, before, after } of pairs) {
        const key = `${accountId}/${currency}`;
        let sum = sums.get(key);
        if (sum === undefined) {
          sum = { before: new Exact(0), after: new Exact(0), charges: 0 };
          sums.set(key, sum);
        }
        if (before !== null) sum.before = sum.before.plus(before);
        if (after !== null) sum.after = sum.after.plus(after);
        sum.charges += 1;
      }
    }
    return [...sums].map(([key, { before, after, charges }]) => ({
      accountId: key.slice(0, key.indexOf('/')),
      currency: key.slice(key.indexOf('/') + 1),
      before: decimalText(before),
      after: decimalText(after),
      charges,
    }));
  }
}

/** Enough digits to add the largest and the smallest amounts without rounding. */
export const Exact = Decimal.clone({ precision: 400 });

/** The events of a portion with all that rating them needs, and where the next one begins. */
export interface ReadPortion {
  readonly chosen: Chosen;
  readonly recorded: readonly TriedEvent[];
  readonly rateEvent: RateEvent;
  /** Whether minimums, maximums or commitments are in force. */
  readonly hasPeriods: boolean;
}

/**
 * Reads a portion, which depends on nothing that was rated: while one is rated the next may be read.
 * Accounts come in the order of their ids, events of an account in the order of theirs: of the time of
 * receipt, then partition and offset. It ends early, also within an account, where its messages would be too
 * much to be held.
 */
export async function readPortion(
  db: Knex,
  tenantId: string,
  usage: RepricedUsage,
  place: PortionPlace,
  repricer: Repricer,
): Promise<ReadPortion> {
  const chosen = await choose(db, tenantId, usage, place);
  const ids = chosen.events.map(({ id }) => id);
  const [charges, hasPeriods] = await Promise.all([
    readTriedCharges(db, tenantId, ids),
    hasPeriodAdjustments(db, tenantId),
  ]);
  const recorded = chosen.events.map((event): TriedEvent => ({
    ...event,
    charges: standing(charges.get(event.id) ?? []),
  }));
  const { rateEvent, next } = await repricer.open(recorded);
  if (next === undefined) return { chosen, recorded, rateEvent, hasPeriods };
  const fitting = recorded.slice(0, recorded.indexOf(next));
  const { accountId = null, id: eventId = null } = fitting.at(-1) ?? {};
  const cut = { ...chosen, isDone: false, accountId, eventId };
  return { chosen: cut, recorded: fitting, rateEvent, hasPeriods };
}

/** A portion that is rated, and which charges minimums, maximums and commitments would see otherwise. */
type RatedPortion = Omit<RepricedPortion, 'differences'> & {
  readonly moves: readonly ChargeMove[];
};

/** Rates a portion with the changes of a repricing, and says what is to be written; nothing is. */
export async function ratePortion(
  { chosen, recorded, rateEvent, hasPeriods }: ReadPortion,
  { repricingId, hasTriedPeriods }: RepricedUsage,
  run: RepricingRun,
): Promise<RatedPortion> {
  const collected = new Collected(hasPeriods || hasTriedPeriods);
  const portions = new Portions();
  let counters = new CounterPlaces(run.eventId === null ? {} : run.counters);
  let current = recorded[0]?.accountId;
  for (const event of recorded) {
    const { accountId } = event;
    if (accountId !== current) counters = new CounterPlaces({});
    current = accountId;
    const outcome = rateEvent(event, counters);
    collect(collected, event, outcome instanceof Promise ? await outcome : outcome);
    if (portions.isOver) await portions.rest();
  }
  return {
    repricingId,
    step: run.step,
    isDone: chosen.isDone,
    accountId: chosen.accountId,
    eventId: chosen.eventId,
    counters: chosen.eventId === null ? {} : counters.state(),
    events: recorded.length,
    rejected: collected.rejected,
    sums: collected.sums(),
    charges: collected.charges(),
    plans: [...collected.plans].map(([id, plan]) => ({ id, plan })),
    moves: collected.moves,
  };
}

function collect(collected: Collected, event: TriedEvent, outcome: Repriced): void {
  if (outcome.kind === 'rated') {
    const { prepared, rated } = outcome;
    collected.add(changedPairs(event, prepared, rated));
    if (collected.hasPeriods) collected.moves.push(...movesOf(event, prepared, rated));
    const id = StoredRatingPlan.idOf(prepared.plan);
    if (!collected.plans.has(id)) collected.plans.set(id, JSON.stringify(prepared.plan));
    return;
  }
  if (outcome.kind === 'kept') collected.reject(outcome.code);
  collected.add(keptPairs(event));
}
