import { moneyText } from '../shown/format.js';

/** What of an explanation says how its parts come to its total. */
interface Totalled {
  readonly total: {
    readonly parts: readonly { readonly name: string; readonly amount: string }[];
    readonly currency: string;
  };
  readonly adjustments?: readonly object[];
  readonly share?: { readonly part: string; readonly whole: string };
}

/**
 * What is said before the total of a charge: the parts, where there are several, and whatever lies
 * between them and the total. Otherwise a total below a sum reads as if somebody had reckoned wrongly.
 */
export function totalText(
  { total, adjustments = [], share }: Totalled,
  /** Of a part of a period: "16 of 31 days". */
  days?: string,
): string {
  const { parts, currency } = total;
  const sum = parts.map(({ name, amount }) => `${name} ${moneyText(amount, currency)}`).join(' + ');
  const between = [
    ...(days === undefined ? [] : [`for ${days}`]),
    ...(adjustments.length === 0 ? [] : ['after discounts']),
    ...(share === undefined ? [] : [`part ${share.part} of ${moneyText(share.whole, currency)}`]),
  ];
  if (between.length === 0) return parts.length > 1 ? `${sum} = ` : 'Total ';
  return `${parts.length > 1 ? `${sum}, ` : 'Total '}${between.join(', ')}: `;
}
