import { fontSource, type FontName } from './fonts.js';
import { drawnRuns, seenText, textRuns } from './text-runs.js';

export type PdfDocument = PDFKit.PDFDocument;

/** Sizes are in points, colours as in CSS. */
export interface TextStyle {
  readonly size: number;
  readonly colour: string;
  readonly isBold?: boolean;
}

/** What pdfkit keeps of a font and its types do not tell. */
interface OpenFont {
  readonly _font: { readonly font: { hasGlyphForCodePoint(code: number): boolean } };
}

/** Where a line may end: after space, and around signs of scripts that are written without. */
const pieces =
  /\s+|[\u2E80-\u30FF\u3100-\u9FFF\uAC00-\uD7FF\uF900-\uFAFF\uFF00-\uFFEF\u{20000}-\u{3FFFF}]|[^\s\u2E80-\u30FF\u3100-\u9FFF\uAC00-\uD7FF\uF900-\uFAFF\uFF00-\uFFEF\u{20000}-\u{3FFFF}]+/gu;
const onlyAscii = /^[\n\u0020-\u007E]*$/;

/**
 * Measures, breaks and draws text in whatever script on the current page of a document. Fonts are
 * opened when a text first needs them, so that the file holds no other.
 */
export class Typesetter {
  readonly #doc: PdfDocument;
  readonly #fonts = new Set<string>();
  readonly #known = new Map<string, boolean>();
  #colour: string | null = null;

  constructor(doc: PdfDocument) {
    this.#doc = doc;
    doc.on('pageAdded', () => this.forgetPage());
  }

  /** To be told when another page is drawn on: each has its own state. */
  forgetPage(): void {
    this.#colour = null;
  }

  #use(name: FontName, { size, isBold = false }: TextStyle): void {
    const id = isBold ? `${name} bold` : name;
    if (!this.#fonts.has(id)) this.#doc.registerFont(id, fontSource(name, isBold));
    this.#fonts.add(id);
    this.#doc.font(id, size);
  }

  /** A text as it can be shown: signs that no font has become a question mark in a rhombus. */
  shown(text: string): string {
    if (onlyAscii.test(text)) return text;
    return textRuns(seenText(text))
      .map((run) =>
        [...run.text].map((sign) => (this.#has(run.font, sign) ? sign : '\uFFFD')).join(''),
      )
      .join('');
  }

  #has(font: FontName, sign: string): boolean {
    const key = `${font}${sign}`;
    let has = this.#known.get(key);
    if (has === undefined) {
      this.#use(font, { size: 1, colour: '' });
      const { _font } = this.#doc as unknown as OpenFont;
      has = sign === '\n' || _font.font.hasGlyphForCodePoint(sign.codePointAt(0) ?? 0);
      this.#known.set(key, has);
    }
    return has;
  }

  /** How wide a shown text is. */
  widthOf(text: string, style: TextStyle): number {
    let width = 0;
    for (const run of textRuns(text)) {
      this.#use(run.font, style);
      width += this.#doc.widthOfString(run.text);
    }
    return width;
  }

  /** Breaks a shown text into lines of a width: at its breaks, between words, within those too long. */
  linesOf(text: string, style: TextStyle, width: number): string[] {
    return text.split('\n').flatMap((paragraph) => {
      if (this.widthOf(paragraph, style) <= width) return [paragraph];
      const lines: string[] = [];
      let line = '';
      const add = (piece: string): void => {
        if (this.widthOf(line + piece.trimEnd(), style) <= width) {
          line += piece;
          return;
        }
        if (line.trimEnd() !== '') lines.push(line.trimEnd());
        line = '';
        if (this.widthOf(piece, style) <= width) line = piece.trimStart();
        else for (const sign of piece) line = this.#addSign(lines, line, sign, style, width);
      };
      for (const piece of paragraph.match(pieces) ?? []) add(piece);
      return [...lines, line.trimEnd()];
    });
  }

  #addSign(lines: string[], line: string, sign: string, style: TextStyle, width: number): string {
    if (line === '' || this.widthOf(line + sign, style) <= width) return line + sign;
    lines.push(line);
    return sign;
  }

  /** Draws a line of shown text; `y` is where its letters stand. */
  draw(line: string, style: TextStyle, x: number, y: number): void {
    if (line === '') return;
    if (this.#colour !== style.colour) this.#doc.fillColor(style.colour);
    this.#colour = style.colour;
    let at = x;
    for (const run of drawnRuns(line)) {
      this.#use(run.font, style);
      this.#doc.text(run.text, at, y, { lineBreak: false, baseline: 'alphabetic' });
      at += this.#doc.widthOfString(run.text);
    }
  }

  /** The same, ending at `right`. */
  drawRight(line: string, style: TextStyle, right: number, y: number): void {
    this.draw(line, style, right - this.widthOf(line, style), y);
  }
}
