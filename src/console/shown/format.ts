const locale = 'en';

/** As text, which `Intl.NumberFormat` takes since ES2023: nothing is rounded to a double. */
const numeric = (text: string): Intl.StringNumericLiteral => text as Intl.StringNumericLiteral;

/** More places than any amount has, so that none is cut off. */
const allPlaces = 20;

/** The places of the longest of some amounts: with so many of each, digit stands below digit. */
export const placesOf = (amounts: readonly string[]): number =>
  Math.max(0, ...amounts.map((amount) => /\.(\d+)$/.exec(amount)?.[1]?.length ?? 0));

/** Made once for each currency and number of places: that is slower than to write a number with it. */
const moneyFormats = new Map<string, Intl.NumberFormat>();

function moneyFormat(currency: string, places: number): Intl.NumberFormat {
  const key = `${currency} ${places}`;
  const known = moneyFormats.get(key);
  if (known) return known;
  const style = { style: 'currency', currency, currencyDisplay: 'code' } as const;
  const usual = new Intl.NumberFormat(locale, style).resolvedOptions().minimumFractionDigits ?? 0;
  const made = new Intl.NumberFormat(locale, {
    ...style,
    minimumFractionDigits: Math.min(allPlaces, Math.max(places, usual)),
    maximumFractionDigits: allPlaces,
  });
  moneyFormats.set(key, made);
  return made;
}

/** An amount with all of its places, and at least those of its currency, or of those beside it. */
export function moneyText(amount: string, currency: string, places = 0): string {
  try {
    return moneyFormat(currency, places).format(numeric(amount));
  } catch {
    // No ISO code: the unit of a wallet.
    return `${quantityText(amount)} ${currency}`;
  }
}

/** Sums of several currencies as one text. */
export const sumsText = (
  sums: readonly { readonly amount: string; readonly currency: string }[],
): string => sums.map(({ amount, currency }) => moneyText(amount, currency)).join(', ');

const quantityFormat = new Intl.NumberFormat(locale, { maximumFractionDigits: allPlaces });

export const quantityText = (text: string): string => quantityFormat.format(numeric(text));

/** A share for people: two places, or three digits where it is smaller. */
export const percentText = (text: string): string =>
  `${new Intl.NumberFormat(locale, {
    maximumFractionDigits: 2,
    maximumSignificantDigits: 3,
    roundingPriority: 'morePrecision',
  }).format(numeric(text))} %`;

/** `2026-04-01T08:00:00.000Z` as `2026-04-01 08:00:00 UTC`. */
export const instantText = (instant: string): string =>
  `${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC`;

/** The same in the zone of whoever looks. */
export const localText = (instant: string): string =>
  new Date(instant).toLocaleString(locale, { timeZoneName: 'short' });
