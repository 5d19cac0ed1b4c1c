import { Typesetter, type PdfDocument, type TextStyle } from './typesetter.js';

/** A4 in points, with its margins. */
export const page = { width: 595.28, left: 48, right: 547.28, top: 48, bottom: 777 } as const;
export const colours = {
  text: '#1f2933',
  faint: '#616e7c',
  line: '#cbd2d9',
  head: '#f0f4f8',
  alarm: '#b42318',
  mark: '#fbe2df',
} as const;
export const styles = {
  normal: { size: 9, colour: colours.text },
  bold: { size: 9, colour: colours.text, isBold: true },
  label: { size: 8, colour: colours.faint },
  small: { size: 7.5, colour: colours.faint },
  faint: { size: 9, colour: colours.faint },
} satisfies Record<string, TextStyle>;
const leading = 1.35;
export const lineHeight = ({ size }: TextStyle): number => size * leading;
/** Where the letters of a line stand whose top is given. */
export const baseline = (y: number, { size }: TextStyle): number => y + size * 1.02;

/** A document that is being filled, and how far down. */
export class Sheet {
  readonly doc: PdfDocument;
  readonly type: Typesetter;
  y: number = page.top;
  readonly #mark: string | null;

  /** The mark, if there is one, goes across every page, below what is on it. */
  constructor(doc: PdfDocument, mark: string | null) {
    this.doc = doc;
    this.type = new Typesetter(doc);
    this.#mark = mark;
    this.addPage();
  }

  addPage(): void {
    this.doc.addPage();
    this.y = page.top;
    if (this.#mark !== null) this.#drawMark(this.#mark);
  }

  #drawMark(text: string): void {
    const style = { size: 190, colour: colours.mark, isBold: true };
    const [x, y] = [page.width / 2, (page.top + page.bottom) / 2];
    this.doc.save().rotate(-55, { origin: [x, y] });
    this.type.draw(text, style, x - this.type.widthOf(text, style) / 2, y + style.size / 3);
    this.doc.restore();
    this.type.forgetPage();
  }

  /** Draws a text over as many lines as it needs, and tells how far down it goes. */
  paragraph(text: string, style: TextStyle, x: number, y: number, width: number): number {
    let at = y;
    for (const line of this.type.linesOf(this.type.shown(text), style, width)) {
      this.type.draw(line, style, x, baseline(at, style));
      at += lineHeight(style);
    }
    return at;
  }

  rule(x: number, y: number, width: number, thickness: number): void {
    this.doc.rect(x, y, width, thickness).fill(colours.line);
    this.type.forgetPage();
  }
}
