/** One line of an invoice; amounts are exact decimal text. */
export interface PdfItem {
  readonly description: string;
  readonly detail: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly volume: string;
  readonly rate: string | null;
  readonly amount: string;
  readonly tax: string;
  /** Percent; null where there is no tax. */
  readonly taxRate: string | null;
}

/** What the PDF of an invoice shows: nothing else decides about its bytes. */
export interface PdfInvoice {
  readonly id: string;
  readonly title: string;
  readonly invoiceNo: string;
  readonly invoiceDate: string;
  readonly dueDate: string | null;
  readonly periodStart: string | null;
  readonly periodEnd: string | null;
  readonly currency: string;
  readonly minorDigits: number;
  readonly seller: readonly string[];
  readonly buyer: readonly string[];
  readonly amount: string;
  readonly taxAmount: string;
  readonly total: string;
  readonly items: readonly PdfItem[];
}
