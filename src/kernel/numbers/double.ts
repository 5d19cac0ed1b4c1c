/** The digits of a number of JSON without its point and the zeros around them, which only say how large it is. */
function digitsOf(text: string): string {
  const [mantissa = ''] = text.split(/e/i);
  const digits = mantissa.replace('.', '').replace(/^-?0*/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** Whether a double is the number that a text of JSON says: written again it has the same digits. */
export const isDouble = (text: string): boolean =>
  digitsOf(String(Number(text))) === digitsOf(text);
