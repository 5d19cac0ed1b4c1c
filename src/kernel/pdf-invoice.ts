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

/** Seller or buyer. */
export interface PdfParty {
  readonly name: string;
  /** Address and numbers, as a letter has them below the name. */
  readonly lines: readonly string[];
  readonly street: string | null;
  readonly street2: string | null;
  readonly zipCode: string | null;
  readonly city: string | null;
  /** Alpha-2 code. */
  readonly country: string | null;
  /** With the prefix of its country. */
  readonly vatId: string | null;
  /** Number in a commercial register. */
  readonly registration: string | null;
}

/** The taxes of one rate. */
export interface PdfTax {
  /** Percent. */
  readonly rate: string;
  /** The amounts that are taxed, and the sum of their taxes. */
  readonly base: string;
  readonly tax: string;
}

/** What the PDF of an invoice shows: nothing else decides about its bytes. */
export interface PdfInvoice {
  readonly id: string;
  readonly title: string;
  readonly invoiceNo: string;
  readonly isCredit: boolean;
  readonly isVoid: boolean;
  readonly invoiceDate: string;
  readonly dueDate: string | null;
  readonly periodStart: string | null;
  readonly periodEnd: string | null;
  readonly currency: string;
  readonly minorDigits: number;
  readonly seller: PdfParty;
  readonly buyer: PdfParty;
  readonly amount: string;
  readonly taxAmount: string;
  readonly total: string;
  /** By rate, in the order of the rates. */
  readonly taxes: readonly PdfTax[];
  readonly items: readonly PdfItem[];
}
