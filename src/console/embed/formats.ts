import { directionOf, type Language } from './texts.js';

/** As text, which `Intl.NumberFormat` takes: nothing is rounded to a double. */
const numeric = (text: string): Intl.StringNumericLiteral => text as Intl.StringNumericLiteral;

/** More places than any amount has, so that none is cut off. */
const allPlaces = { maximumFractionDigits: 20 } as const;

const utc = { timeZone: 'UTC' } as const;
const dayForm = { year: 'numeric', month: 'short', day: 'numeric', ...utc } as const;
const instantForm = {
  ...dayForm,
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
} as const;

/** How a language writes amounts, quantities, days and times; times are UTC and say so. */
export interface Formats {
  money(amount: string, currency: string): string;
  quantity(text: string): string;
  day(date: string): string;
  instant(at: string): string;
}

export function formatsOf(language: Language): Formats {
  const quantities = new Intl.NumberFormat(language, allPlaces);
  const days = new Intl.DateTimeFormat(language, dayForm);
  const instants = new Intl.DateTimeFormat(language, instantForm);
  const quantity = (text: string): string => quantities.format(numeric(text));
  /** A sign such as `US$`: in a line from the right its letters and its dollar would part. */
  const whole = (sign: string): string =>
    directionOf(language) === 'rtl' ? `\u2066${sign}\u2069` : sign;
  return {
    quantity,
    money: (amount, currency) => {
      try {
        const style = { style: 'currency', currency, ...allPlaces } as const;
        const parts = new Intl.NumberFormat(language, style).formatToParts(numeric(amount));
        return parts
          .map(({ type, value }) => (type === 'currency' ? whole(value) : value))
          .join('');
      } catch {
        // No ISO code: the unit of a wallet.
        return `${quantity(amount)} ${currency}`;
      }
    },
    day: (date) => days.format(new Date(`${date.slice(0, 10)}T00:00:00Z`)),
    instant: (at) => instants.format(new Date(at)),
  };
}
