import type { CardFacts } from './types.js';

/** The version in force on a date, of one day the higher number; before the first, the first. */
export function chooseVersion(
  cards: readonly CardFacts[],
  currency: string,
  date: string,
): CardFacts | null {
  const versions = versionsOf(cards, currency);
  return versions.findLast((card) => card.fromDate <= date) ?? versions[0] ?? null;
}

const versionsByCards = new WeakMap<
  readonly CardFacts[],
  ReadonlyMap<string, readonly CardFacts[]>
>();

/** The versions of a currency, oldest first; sorted once per list of cards. */
function versionsOf(cards: readonly CardFacts[], currency: string): readonly CardFacts[] {
  let byCurrency = versionsByCards.get(cards);
  if (!byCurrency) {
    const sorted = [...cards].sort(
      (a, b) => compareText(a.fromDate, b.fromDate) || a.versionNo - b.versionNo,
    );
    byCurrency = new Map(
      sorted.map(({ currency: each }) => [each, sorted.filter((card) => card.currency === each)]),
    );
    versionsByCards.set(cards, byCurrency);
  }
  return byCurrency.get(currency) ?? [];
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
