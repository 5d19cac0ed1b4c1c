/** Of a row as much as a cursor may take. */
const headMax = 400;

const lineBreak = 10;
const quotationMark = 34;

/** Looks through an export while it passes: how many rows there are, where the last one ends, and its cursor. */
export class ExportScanner {
  readonly #isCsv: boolean;
  #head = '';
  #offset = 0;
  #isQuoted = false;
  #last = '';
  rows = 0;
  /** Bytes up to the end of the last whole row, or of the header. */
  rowsEnd = 0;
  cursor: string | undefined;

  constructor(format: 'ndjson' | 'csv') {
    this.#isCsv = format === 'csv';
  }

  /** The last line, with its line break; empty before it has come. */
  get last(): string {
    return this.#last;
  }

  /** Whether the last line says that these are all rows. */
  get isWhole(): boolean {
    return this.#last.startsWith(this.#isCsv ? '# end,' : '{"end":true');
  }

  /** The last line, where it says why the export broke off. */
  get fault(): string | undefined {
    return this.#last === '' || this.isWhole ? undefined : this.#last.trim();
  }

  feed(chunk: Uint8Array): void {
    let begin = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      // In CSV a line break may stand between quotation marks; in NDJSON it never does.
      if (byte === quotationMark && this.#isCsv) this.#isQuoted = !this.#isQuoted;
      else if (byte === lineBreak && !this.#isQuoted) {
        this.#keep(chunk, begin, at + 1);
        this.#endLine(this.#offset + at + 1);
        begin = at + 1;
      }
    }
    this.#keep(chunk, begin, chunk.length);
    this.#offset += chunk.length;
  }

  #keep(chunk: Uint8Array, begin: number, end: number): void {
    const room = headMax - this.#head.length;
    if (room <= 0) return;
    this.#head += Buffer.from(chunk.buffer, chunk.byteOffset + begin, end - begin).toString(
      'latin1',
      0,
      room,
    );
  }

  #endLine(end: number): void {
    const head = this.#head;
    this.#head = '';
    if (head.startsWith(this.#isCsv ? '# ' : '{"end":')) {
      this.#last = head;
      return;
    }
    this.rowsEnd = end;
    if (this.#isCsv && head.startsWith('cursor,')) return;
    this.rows += 1;
    // `{"cursor":"…"` or `…,`.
    const from = this.#isCsv ? 0 : '{"cursor":"'.length;
    this.cursor = head.slice(from, head.indexOf(this.#isCsv ? ',' : '"', from));
  }
}
