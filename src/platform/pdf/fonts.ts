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

const contents = new Map<string, Buffer>();

/** The file of a font: read once, when a text first needs it. */
export function fontFile(name: FontName, isBold: boolean): Buffer {
  const path = files[name][isBold ? 'bold' : 'normal'];
  let bytes = contents.get(path);
  if (!bytes) {
    bytes = readFileSync(path);
    contents.set(path, bytes);
  }
  return bytes;
}
