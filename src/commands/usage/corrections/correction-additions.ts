import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import { chargeId, chargesMax } from '../../../messages/usage-log.js';
import type { CorrectedPair } from '../../../models/usage/corrections/usage-correction.js';
import type {
  RatedTransaction,
  RatedTransactionRow,
} from '../../../models/usage/rated-transaction.js';
import type { DayTally } from '../../../models/usage/usage-day.js';
import { CorrectedSums } from '../../../queries/usage/corrections/corrected-sums.js';
import type { RecordedEvent } from '../../../queries/usage/corrections/recorded-event.js';
import type { RatedAgain } from '../../../queries/usage/corrections/rerating/rerate-request.js';
import { storedOf } from '../../../queries/usage/corrections/same-charges.js';
import type { RatingPlan } from '../../../rating/index.js';
import type { ReversedCharge } from '../../balances/return-reversed.js';
import { countedCharge, type CountedCharge } from '../../balances/trigger-alerts.js';
import { chargeRow } from '../charge-row.js';
import { UsageTotals } from '../usage-totals.js';

/** What a correction moves beside charges: it grows with accounts, days and prices, not with events. */
export class CorrectionFigures {
  readonly totals = new UsageTotals();
  readonly sums = new CorrectedSums();
  /** Charges by what alerts count them by; amounts and volumes are added up. */
  readonly #counted = new Map<string, CountedCharge>();
  /** Charges by partition. */
  readonly charges = new Map<number, number>();
  readonly #days = new Map<string, DayTally>();
  changed = 0;

  addAll(others: CorrectionFigures): void {
    this.totals.addAll(others.totals);
    this.sums.addAll(others.sums);
    for (const charge of others.#counted.values()) this.count(charge);
    for (const [partition, number] of others.charges) this.addCharges(partition, number);
    for (const [key, tally] of others.#days) this.#addDay(key, tally);
    this.changed += others.changed;
  }

  addCharges(partition: number, number: number): void {
    this.charges.set(partition, (this.charges.get(partition) ?? 0) + number);
  }

  /** Counts a charge that was written; its id says its partition. */
  addDay(id: string, day: string): void {
    this.#addDay(`${day}${id.slice(15, 18)}`, { day, total: 1, firstId: id, lastId: id });
  }

  #addDay(key: string, { day, total, firstId, lastId }: DayTally): void {
    const known = this.#days.get(key);
    this.#days.set(key, {
      day,
      total: total + (known?.total ?? 0),
      firstId: known && known.firstId < firstId ? known.firstId : firstId,
      lastId: known && known.lastId > lastId ? known.lastId : lastId,
    });
  }

  get days(): readonly DayTally[] {
    return [...this.#days.values()];
  }

  count(charge: CountedCharge): void {
    const { date, accountId, contractId, serviceId, currency, usageType, volumes } = charge;
    const names = volumes.map(({ attributeName }) => attributeName);
    const key = JSON.stringify([
      date,
      accountId,
      contractId,
      serviceId,
      currency,
      usageType,
      names,
    ]);
    const known = this.#counted.get(key);
    this.#counted.set(key, known ? together(known, charge) : charge);
  }

  get counted(): readonly CountedCharge[] {
    return [...this.#counted.values()];
  }
}

/** Two charges of the same day, account and attributes as one. */
const together = (one: CountedCharge, other: CountedCharge): CountedCharge => ({
  ...one,
  amount: one.amount.plus(other.amount),
  volumes: one.volumes.map(({ attributeName, volume }, index) => ({
    attributeName,
    volume: volume.plus(other.volumes[index]?.volume ?? 0),
  })),
});

/** What a correction adds to the books. */
export class Additions {
  readonly reversals: ReversedCharge[] = [];
  readonly rows: RatedTransactionRow[] = [];
  readonly plans = new Set<RatingPlan>();
  readonly pairs: CorrectedPair[] = [];
  readonly figures = new CorrectionFigures();
  readonly #correctionId: string;
  readonly #ratedAt: Date;
  #position: number;

  /** `position` is that of the first pair. */
  constructor(correctionId: string, ratedAt: Date, position: number) {
    this.#correctionId = correctionId;
    this.#ratedAt = ratedAt;
    this.#position = position;
  }

  /** Adds the reversals of an event, and its new charges. */
  add({ event, isTarget, outcome }: RatedAgain): void {
    const { figures } = this;
    figures.changed += 1;
    figures.sums.addBefore(event.charges);
    figures.sums.addRated(outcome?.rated ?? null);
    const first = event.chargeCount;
    let number = first;
    const eventId = event.id;
    const unpaired = new Map(event.charges.map((charge) => [charge.id, charge]));
    for (const charge of event.charges) {
      number += 1;
      const id = chargeId(eventId, number);
      this.reversals.push({ id, of: charge.id, charge });
      figures.addDay(id, charge.transactionDate);
    }
    for (const charge of event.charges) figures.count(countedReversal(charge));
    if (event.charges.length > 0) figures.totals.subtract(event.hour, event.charges);
    if (outcome) {
      const { prepared, rated } = outcome;
      this.plans.add(prepared.plan);
      figures.totals.add(outcome);
      for (const charge of rated.transactions) {
        number += 1;
        const row = chargeRow(
          { eventId, number, correctionId: this.#correctionId, ratedAt: this.#ratedAt },
          prepared,
          charge,
        );
        const stored = isTarget ? row : { ...row, ...factsOf(event) };
        this.rows.push(stored);
        figures.addDay(stored.id, stored.transactionDate);
        figures.count(countedCharge(stored, charge.dimensions));
        const before = storedOf(event.charges, charge)?.id ?? null;
        if (before !== null) unpaired.delete(before);
        this.#pair(eventId, before, row.id);
      }
    }
    for (const before of unpaired.keys()) this.#pair(eventId, before, null);
    figures.addCharges(event.partition, number - first);
    if (number <= chargesMax) return;
    throw problem.conflict(`The usage event '${eventId}' was corrected too often.`);
  }

  #pair(eventId: string, beforeId: string | null, afterId: string | null): void {
    this.pairs.push({ position: this.#position, eventId, beforeId, afterId });
    this.#position += 1;
  }
}

/** Of an event that nothing becomes of but that its counters move: under which line it was rated. */
function factsOf({ charges: [first] }: RecordedEvent) {
  return first
    ? {
        serviceInstanceId: first.serviceInstanceId,
        contractId: first.contractId,
        contractServiceId: first.contractServiceId,
      }
    : {};
}

/** A reversed charge as the figures of alerts count it. */
const countedReversal = (charge: RatedTransaction): CountedCharge => ({
  date: charge.transactionDate,
  accountId: charge.accountId,
  contractId: charge.contractId,
  serviceId: charge.serviceId,
  currency: charge.currency,
  usageType: charge.usageType,
  amount: new Decimal(charge.amount).negated(),
  volumes: charge.dimensions.map(({ dimensionName, volume }) => ({
    attributeName: dimensionName,
    volume: new Decimal(volume).negated(),
  })),
});
