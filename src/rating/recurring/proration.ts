import { daysFrom } from '../../kernel/time/date.js';
import type { Days } from '../../kernel/time/billing-calendar.js';
import { roundAmount, type Decimal } from '../../kernel/numbers/money.js';
import type { RecurringRequest } from './recurring-charge.js';

/** How parts of a period are charged: by days, where every attribute of the price is prorated. */
export function proratePeriod({ service, line, period, billed, isPart, type }: RecurringRequest) {
  const isProrated = new Map(
    [...service.attributes, ...line.attributes].map(({ name, isProration }) => [
      name,
      isProration === true,
    ]),
  );
  const isFor = (names: readonly string[]): boolean =>
    type === 'Subscription' &&
    (isPart || (names.length > 0 && names.every((name) => isProrated.get(name) === true)));
  return {
    isFor,
    of(names: readonly string[], price: Decimal, days: Days) {
      if (!isFor(names)) return { amount: roundAmount(price), days: billed, isProrated: false };
      const [charged, all] = [daysFrom(days.first, days.last), daysFrom(period.first, period.last)];
      return {
        amount: roundAmount(price.times(charged).div(all)),
        days,
        isProrated: charged !== all,
      };
    },
  };
}
