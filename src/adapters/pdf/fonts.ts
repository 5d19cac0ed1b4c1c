import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const noto = (main: string, file: string): string => join(dirname(main), '..', 'fonts', file);
const roboto = (file: string): string =>
  join(dirname(require.resolve('pdfmake/package.json')), 'fonts', 'Roboto', file);

// Large, so that one weight of each has to do.
const han = noto(require.resolve('@embedpdf/fonts-sc'), 'NotoSansHans-Regular.otf');
const hangul = noto(require.resolve('@embedpdf/fonts-kr'), 'NotoSansKR-Regular.otf');
const arabic = (weight: string): string =>
  noto(require.resolve('@embedpdf/fonts-arabic'), `NotoNaskhArabic-${weight}.ttf`);
const hebrew = (weight: string): string =>
  noto(require.resolve('@embedpdf/fonts-hebrew'), `NotoSansHebrew-${weight}.ttf`);

/** The fonts of invoices (docs/decisions/0120). */
const files = {
  Latin: { normal: roboto('Roboto-Regular.ttf'), bold: roboto('Roboto-Medium.ttf') },
  Han: { normal: han, bold: han },
  Hangul: { normal: hangul, bold: hangul },
  Arabic: { normal: arabic('Regular'), bold: arabic('Bold') },
  Hebrew: { normal: hebrew('Regular'), bold: hebrew('Bold') },
};

export type FontName = keyof typeof files;

/** What is called here of fontkit, with which pdfkit opens fonts. */
interface Fontkit {
  create(bytes: Uint8Array): object;
  registerFormat(format: {
    probe(bytes: Uint8Array): boolean;
    new (stream: { readonly buffer: Uint8Array }): object;
  }): void;
}
// The very copy that pdfkit has, because each copy knows formats of its own.
const fontkit = createRequire(require.resolve('pdfkit'))('fontkit') as Fontkit;

/** Opened fonts by the empty files that stand for them. */
const opened = new WeakMap<Uint8Array, object>();

/**
 * pdfkit takes the bytes of a font, and reads its tables anew for each document: a fifth of a second
 * for Chinese and Korean. As a format of its own, an opened font is found instead of read.
 */
fontkit.registerFormat(
  class OpenedFont {
    static probe(bytes: Uint8Array): boolean {
      return opened.has(bytes);
    }
    constructor({ buffer }: { readonly buffer: Uint8Array }) {
      return opened.get(buffer) ?? this;
    }
  },
);

const stands = new Map<string, Uint8Array>();

/** What pdfkit is to be given for a font, which is opened once, when a text first needs it. */
export function fontSource(name: FontName, isBold: boolean): Uint8Array {
  const path = files[name][isBold ? 'bold' : 'normal'];
  let stand = stands.get(path);
  if (!stand) {
    stand = new Uint8Array();
    opened.set(stand, fontkit.create(readFileSync(path)));
    stands.set(path, stand);
  }
  return stand;
}
