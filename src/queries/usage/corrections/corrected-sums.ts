import { Decimal, decimalText } from '../../../kernel/numbers/money.js';
import type { Rated } from '../../../rating/index.js';
import type {
  AccountSum,
  CurrencySum,
} from '../../../models/usage/corrections/usage-correction.js';

/** Enough digits to add the largest and the smallest amounts without rounding. */
const Exact = Decimal.clone({ precision: 400 });

interface Charged {
  readonly accountId: string;
  readonly currency: string;
  readonly amount: string | Decimal;
}

/** What charges came to before and after, by account and currency. */
export class CorrectedSums {
  readonly #sums = new Map<
    string,
    { accountId: string; currency: string; before: Decimal; after: Decimal }
  >();

  addBefore(charges: readonly Charged[]): void {
    for (const charge of charges) {
      const sums = this.#of(charge);
      sums.before = sums.before.plus(charge.amount);
    }
  }

  /** Adds charges that stay as they are. */
  addKept(charges: readonly Charged[]): void {
    this.addBefore(charges);
    for (const charge of charges) {
      const sums = this.#of(charge);
      sums.after = sums.after.plus(charge.amount);
    }
  }

  /** Adds what an event comes to now; null: nothing. */
  addRated(rated: Rated | null): void {
    for (const { billedAccountId: accountId, currency, amount } of rated?.transactions ?? []) {
      const sums = this.#of({ accountId, currency });
      sums.after = sums.after.plus(amount);
    }
  }

  /** Adds what an event comes to, as it did. */
  addSame(rated: Rated): void {
    for (const { billedAccountId: accountId, currency, amount } of rated.transactions) {
      const sums = this.#of({ accountId, currency });
      sums.before = sums.before.plus(amount);
      sums.after = sums.after.plus(amount);
    }
  }

  /** Adds what others came to. */
  addAll(others: CorrectedSums): void {
    for (const other of others.#sums.values()) {
      const sums = this.#of(other);
      sums.before = sums.before.plus(other.before);
      sums.after = sums.after.plus(other.after);
    }
  }

  #of({ accountId, currency }: Pick<Charged, 'accountId' | 'currency'>) {
    const key = `${accountId}/${currency}`;
    let sums = this.#sums.get(key);
    if (sums === undefined) {
      sums = { accountId, currency, before: new Exact(0), after: new Exact(0) };
      this.#sums.set(key, sums);
    }
    return sums;
  }

  /** The accounts with the greatest differences first, at most so many. */
  accounts(most: number): AccountSum[] {
    const order = [...this.#sums.values()].sort((a, b) => {
      const [of, than] = [a, b].map(({ before, after }) => after.minus(before).abs());
      const byDifference = than?.comparedTo(of ?? 0) ?? 0;
      return byDifference === 0 ? (a.accountId < b.accountId ? -1 : 1) : byDifference;
    });
    return order.slice(0, most).map(({ accountId, currency, before, after }) => ({
      accountId,
      currency,
      before: decimalText(before),
      after: decimalText(after),
    }));
  }

  /** By currency. */
  totals(of: 'before' | 'after'): CurrencySum[] {
    const totals = new Map<string, Decimal>();
    for (const sums of this.#sums.values()) {
      totals.set(sums.currency, (totals.get(sums.currency) ?? new Exact(0)).plus(sums[of]));
    }
    return [...totals]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, amount]) => ({ currency, amount: decimalText(amount) }));
  }
}
