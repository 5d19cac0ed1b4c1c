import type { Days } from '../../../kernel/time/billing-calendar.js';
import { eachInPortions } from '../../../kernel/portions.js';
import type { ChargedPeriod } from '../../../models/billing/recurring-charge.js';

/** Months are counted from the year 0. */
const monthOf = (day: string): number => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));

/** The months that a period touches; periods are of a year at most. */
function monthsOf({ first, last }: Days): number[] {
  const from = monthOf(first);
  return Array.from({ length: monthOf(last) - from + 1 }, (_, index) => from + index);
}

/**
 * Index of the charged periods by lineage, type and days: a run over a long time looks up many
 * periods among many charges.
 */
export class ChargedIndex {
  readonly #byKey = new Map<string, ChargedPeriod[]>();

  static async of(charged: readonly ChargedPeriod[]): Promise<ChargedIndex> {
    const index = new ChargedIndex();
    await eachInPortions(charged, (one) => {
      const { lineageId, chargeType, periodStart: first, periodEnd: last } = one;
      index.#index(`${lineageId}/${chargeType}`, one);
      for (const month of monthsOf({ first, last })) {
        index.#index(`${lineageId}/${chargeType}/${month}`, one);
      }
    });
    return index;
  }

  #index(key: string, one: ChargedPeriod): void {
    const known = this.#byKey.get(key);
    if (known) known.push(one);
    else this.#byKey.set(key, [one]);
  }

  /** All that is charged to a lineage of lines, one-time charges too. */
  ofLineage(lineageId: string, type: string): readonly ChargedPeriod[] {
    return this.#byKey.get(`${lineageId}/${type}`) ?? [];
  }

  /** The charges of a lineage for periods that overlap these days, in no particular order. */
  during(lineageId: string, type: string, days: Days): readonly ChargedPeriod[] {
    const near = monthsOf(days).flatMap(
      (month) => this.#byKey.get(`${lineageId}/${type}/${month}`) ?? [],
    );
    return near.filter((one) => one.periodStart <= days.last && one.periodEnd >= days.first);
  }
}
