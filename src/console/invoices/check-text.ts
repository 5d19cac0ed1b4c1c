import { moneyText } from '../shown/format.js';

/** What of an explained item says whether it comes to its parts. */
interface Checked {
  readonly chargeType: string;
  readonly creditedItemId: string | null;
  readonly exactAmount: string | null;
  readonly sumOfParts: string;
  readonly matches: boolean;
}

interface Charged {
  readonly explanation: {
    readonly adjustments?: readonly object[];
    readonly credits?: readonly object[];
  } | null;
}

/** Items that take something off the others, by their kind. */
const reductions: Readonly<Record<string, string>> = {
  Discount: 'What discounts took of the other items',
  Credits: 'What grants paid of the other items',
  Credited: 'What credit notes had given back of the other items before',
};

const isBelowZero = (amount: string): boolean => amount.startsWith('-');

/** Whether an item comes to what it is made of, which the server has just added up. */
export function checkText(item: Checked, currency: string): string {
  const { matches } = item;
  if (item.creditedItemId !== null) {
    return matches
      ? 'The item that it credits was not credited with more than it charges.'
      : 'The item that it credits was credited with more than it charges. Run audit-usage.';
  }
  const sum = moneyText(item.sumOfParts, currency);
  const reduction = reductions[item.chargeType];
  if (reduction !== undefined) {
    return matches
      ? `${reduction}: ${sum}, rounded once. Their charges say the same.`
      : `${reduction}: ${sum}. Their charges say something else. Run audit-usage.`;
  }
  if (!matches) return `The parts come to ${sum}, and the item is something else. Run audit-usage.`;
  const isTurned =
    isBelowZero(item.sumOfParts) !== isBelowZero(item.exactAmount ?? item.sumOfParts);
  return `The parts come to ${sum}, and the item is that, rounded once${isTurned ? ', with the opposite sign' : ''}.`;
}

/** Whether discounts or grants leave less of a shown charge than the price, which is the item. */
export const isReduced = ({
  transactions,
  charges,
}: {
  readonly transactions: readonly Charged[];
  readonly charges: readonly Charged[];
}): boolean =>
  [...transactions, ...charges].some(
    ({ explanation }) =>
      (explanation?.adjustments ?? []).length + (explanation?.credits ?? []).length > 0,
  );
