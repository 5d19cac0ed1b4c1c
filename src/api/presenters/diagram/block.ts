/** A part of a diagram: how large it is, where it is entered and left, and how it is drawn. */
export interface Block {
  readonly width: number;
  readonly height: number;
  /** Where arrows enter it above and leave it below, from its left edge. */
  readonly middle: number;
  /** The right edge of its box, from its left edge: beyond it are only its own signs. */
  readonly edge: number;
  draw(x: number, y: number): string;
}

/** XML knows no other characters; a lone half of a pair is none either. */
const impossible = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text of a tenant as XML: never markup, whatever it says. */
export const escaped = (text: string): string =>
  text.replace(impossible, '').replace(/[&<>"']/g, (letter) => entities[letter] ?? '');

/** Letters of East Asian scripts and signs take about twice the room. */
const widthOf = (letter: string): number => ((letter.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1);

/** Pixels of an average letter; names are bold. */
const letterWidth = { name: 7, small: 6 } as const;

/** As much of a text as has room in so many pixels. */
export function fitted(text: string, pixels: number, kind: 'name' | 'small'): string {
  const most = Math.max(1, Math.floor(pixels / letterWidth[kind]));
  const letters = [...text.slice(0, 4 * most)];
  let room = most;
  const shown = letters.findIndex((letter) => (room -= widthOf(letter)) < 0);
  if (shown < 0 && letters.length === [...text].length) return text;
  return `${letters.slice(0, Math.max(1, (shown < 0 ? letters.length : shown) - 1)).join('')}…`;
}

export const textAt = (x: number, y: number, text: string, kind = ''): string =>
  `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${escaped(text)}</text>`;

export const arrow = (path: string, kind = ''): string =>
  `<path class="line${kind}" marker-end="url(#head)" d="${path}"/>`;

export const line = (path: string): string => `<path class="line" d="${path}"/>`;

export const frame = (
  place: { x: number; y: number; width: number; height: number },
  kind: string,
): string =>
  `<rect class="${kind}" x="${place.x}" y="${place.y}" width="${place.width}" height="${place.height}" rx="6"/>`;
