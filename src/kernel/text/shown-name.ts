/** Names that are shown to people are cut to this many characters. */
const shownMax = 80;

/**
 * A name that a stranger chose, so that it reads as what it is: without characters that are not
 * seen or that turn the direction of what follows (U+202E), without piles of marks, in one line.
 * Null when nothing is left.
 */
export function plainName(name: string | null | undefined): string | null {
  const text = (name ?? '')
    .normalize('NFC')
    .replace(/[\p{Z}\s]+/gu, ' ')
    .replace(/[\p{C}\u115F\u1160\u3164\uFFA0]/gu, '')
    .replace(/(\p{M}{2})\p{M}+/gu, '$1')
    .trim();
  const letters = [...text];
  if (letters.length === 0) return null;
  return letters.length > shownMax ? `${letters.slice(0, shownMax - 1).join('')}…` : text;
}
