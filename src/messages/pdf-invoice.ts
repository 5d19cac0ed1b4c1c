import type { ChargedTier } from '../kernel/numbers/charged-tier.js';

/** A step of the pricing logic that made an amount. */
export interface PdfStep {
  readonly label: string | null;
  readonly name: string;
  readonly formula: string;
  /** Null where many events were computed, each with a value of its own. */
  readonly value: string | null;
}

/** One line of an invoice; amounts are exact decimal text. */
export interface PdfItem {
  readonly description: string;
  readonly detail: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly volume: string;
  /** What the volume counts. */
  readonly unit: string | null;
  /** Name of the price method; null where pricing logic made the amount. */
  readonly method: string | null;
  readonly rate: string | null;
  readonly amount: string;
  /** Before its rounding. */
  readonly exactAmount: string | null;
  readonly tiers: readonly ChargedTier[];
  readonly proration: { readonly days: number; readonly of: number; readonly text: string } | null;
  /** How pricing logic computed it, and for how many events or charges. */
  readonly steps: readonly PdfStep[];
  readonly stepsOf: number;
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

/** How the seller is to be paid. */
export interface PdfPayment {
  readonly text: string | null;
  readonly iban: string | null;
  readonly bic: string | null;
}

/** The usage of a day that is part of an item. */
export interface PdfUsage {
  readonly date: string;
  readonly description: string;
  readonly unit: string | null;
  readonly volume: string;
  readonly amount: string;
}

/** What the PDF of an invoice shows: nothing else decides about its bytes. */
export interface PdfInvoice {
  readonly id: string;
  readonly title: string;
  readonly invoiceNo: string;
  readonly isCredit: boolean;
  /** Of a credit note against an invoice: the number of that, and why it was credited. */
  readonly credited: { readonly invoiceNo: string; readonly reason: string } | null;
  readonly isVoid: boolean;
  readonly invoiceDate: string;
  readonly dueDate: string | null;
  readonly periodStart: string | null;
  readonly periodEnd: string | null;
  readonly contractNumber: string | null;
  readonly poNumber: string | null;
  readonly currency: string;
  readonly minorDigits: number;
  readonly seller: PdfParty;
  readonly buyer: PdfParty;
  readonly amount: string;
  readonly taxAmount: string;
  readonly total: string;
  /** What of the total is paid when the file is made, and what is still due. */
  readonly paid: string;
  readonly due: string;
  readonly payment: PdfPayment | null;
  /** By rate, in the order of the rates. */
  readonly taxes: readonly PdfTax[];
  readonly items: readonly PdfItem[];
  /** The usage of each day, where the seller wants it; null: it does not. */
  readonly usage: readonly PdfUsage[] | null;
}
