const locale = 'en';

/** As text, which `Intl.NumberFormat` takes since ES2023: nothing is rounded to a double. */
const numeric = (text: string): Intl.StringNumericLiteral => text as Intl.StringNumericLiteral;

/** More places than any amount has, so that none is cut off. */
const allPlaces = 20;

/** An amount with all of its places, and at least those of its currency. */
export function moneyText(amount: string, currency: string): string {
  try {
    const style = { style: 'currency', currency, currencyDisplay: 'code' } as const;
    return new Intl.NumberFormat(locale, { ...style, maximumFractionDigits: allPlaces }).format(
      numeric(amount),
    );
  } catch {
    // No ISO code: the unit of a wallet.
    return `${quantityText(amount)} ${currency}`;
  }
}

/** Sums of several currencies as one text. */
export const sumsText = (
  sums: readonly { readonly amount: string; readonly currency: string }[],
): string => sums.map(({ amount, currency }) => moneyText(amount, currency)).join(', ');

export const quantityText = (text: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: allPlaces }).format(numeric(text));

/** `2026-04-01T08:00:00.000Z` as `2026-04-01 08:00:00 UTC`. */
export const instantText = (instant: string): string =>
  `${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC`;

/** The same in the zone of whoever looks. */
export const localText = (instant: string): string =>
  new Date(instant).toLocaleString(locale, { timeZoneName: 'short' });
