/** The slider of a price goes up to so many percent of what is in force. */
export const percentMax = 300;

const isZero = (text: string): boolean => !/[1-9]/.test(text);

/** What a slider is in parts of: the price in force, or 1 where that is nothing. */
export const wholeOf = (inForce: string): string => (isZero(inForce) ? '1' : inForce);

/** So many percent of a number, to its last digit. */
export function scaled(text: string, percent: bigint): string {
  const sign = text.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const places = fraction.length + 2;
  const digits = String(BigInt(whole + fraction) * percent).padStart(places + 1, '0');
  const decimals = digits.slice(-places).replace(/0+$/, '');
  const number = digits.slice(0, -places) + (decimals === '' ? '' : `.${decimals}`);
  return isZero(number) ? '0' : sign + number;
}

/** Where on its slider a number is; for drawing alone, since it may lie beside or between. */
export const placeOf = (text: string, whole: string): number =>
  Math.min(percentMax, Math.max(0, Math.round((100 * Number(text)) / Number(whole)) || 0));
