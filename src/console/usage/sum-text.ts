/** The exact sum of decimals as the API writes them. */
export function sumText(texts: readonly string[]): string {
  const places = Math.max(0, ...texts.map((text) => text.split('.')[1]?.length ?? 0));
  const sum = texts.reduce((total, text) => {
    const [whole = '', part = ''] = text.split('.');
    return total + BigInt(whole + part.padEnd(places, '0'));
  }, 0n);
  const sign = sum < 0n ? '-' : '';
  const digits = String(sum)
    .replace('-', '')
    .padStart(places + 1, '0');
  const end = digits.length - places;
  return places === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, end)}.${digits.slice(end)}`;
}
