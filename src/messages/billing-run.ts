import { scheduleFrequencies } from '../kernel/time/schedule-calendar.js';

/** What the workflow of billing runs is given and gives: JSON-safe, known to workflow and activities. */

/** What a billing run is asked for (spec/flows.md R34); the dates are inclusive. */
export interface BillingRunInput {
  readonly periodStart: string;
  readonly periodEnd: string;
  /** Only this account, whatever its billing day. */
  readonly accountId?: string;
  /** Whether nothing is written. */
  readonly dryRun?: boolean;
}

/** How a run divides its work. */
export interface BillingSizes {
  /** How many accounts are listed at once. */
  readonly page: number;
  /**
   * Accounts of one transaction. The usage of an account lies scattered among that of others: the
   * more accounts are billed at once, the more of what is read is wanted (docs/decisions/0111).
   */
  readonly batch: number;
  /** Batches under way at the same time; they meet only where invoices are numbered. */
  readonly concurrency: number;
  /** Pages of one history: the run then goes on in another, before Temporal's limit. */
  readonly pages: number;
  /** PDFs of one step. */
  readonly renders: number;
}

export const billingSizes: BillingSizes = {
  page: 10_000,
  batch: 5_000,
  concurrency: 2,
  pages: 100,
  renders: 50,
};

/** What a run knows when it has begun. */
export interface BillingRunStart {
  /** Accounts that may have something to bill. */
  readonly accountCount: number;
  /** The date of its invoices. */
  readonly invoiceDate: string;
  /** Kept for the whole run, so that others may be chosen while it is open. */
  readonly sizes: BillingSizes;
}

/**
 * What a run leaves out or could not do as it should: a charge that could not be made (it stays due for a
 * run of the same period), tax that has no rate, usage that is not rated.
 */
export interface BillingProblem {
  /** Null where it is of the whole tenant. */
  readonly accountId: string | null;
  readonly contractServiceId: string | null;
  readonly chargeType: string | null;
  readonly periodStart: string | null;
  readonly code: string;
  readonly message: string;
  /** How many usage events, where it is about such. */
  readonly events?: number;
}

/** Some accounts to bill, in one transaction. */
export interface BillingBatch {
  readonly input: BillingRunInput;
  readonly invoiceDate: string;
  readonly accountIds: readonly string[];
}

/**
 * An invoice that would be made, as JSON text: its amounts may have more digits than Temporal's converter keeps
 * in a number. A run that a version before has begun has objects.
 */
export type Draft = string | object;

/** What came of a batch. */
export interface BillingBatchResult {
  readonly invoices: number;
  readonly problems: readonly BillingProblem[];
  /** Of a dry run: the invoices that would be made. */
  readonly drafts: readonly Draft[];
}

/** The workflow's query for the progress of a run; `durabill billing-run` shows its answers. */
export const progressQueryName = 'progress';

/** What the query `progress` of a running workflow answers with. */
export interface BillingProgress {
  readonly accountCount: number;
  readonly accountsDone: number;
  readonly invoices: number;
  readonly problems: number;
}

/** The most problems and ids that the output of a run holds; all are counted. */
export const outputListMax = 1_000;
/** Drafts come with their items. */
export const draftsMax = 200;
/** Characters of their JSON: Temporal keeps no value of more than 2 MiB. */
const draftsLengthMax = 600_000;

/** An item of a draft takes more characters than that: its ids and names alone do. */
const itemLengthMin = 300;

/** The first of these invoices whose drafts may fit into an output; what cannot need not be presented. */
export function draftsWorthShowing<T extends { readonly items: readonly unknown[] }>(
  invoices: readonly T[],
): readonly T[] {
  let items = 0;
  const tooMany = invoices.findIndex((invoice) => {
    items += invoice.items.length;
    return items * itemLengthMin > draftsLengthMax;
  });
  return invoices.slice(0, Math.min(draftsMax, tooMany < 0 ? draftsMax : tooMany));
}

/** The first of these drafts that a run which shows others already can show with them. */
export function draftsThatFit(shown: readonly Draft[], drafts: readonly Draft[]): Draft[] {
  const fit: Draft[] = [];
  let length = shown.reduce((sum, draft) => sum + lengthOf(draft), 0);
  for (const draft of drafts) {
    length += lengthOf(draft);
    if (shown.length + fit.length >= draftsMax || length > draftsLengthMax) break;
    fit.push(draft);
  }
  return fit;
}

const lengthOf = (draft: Draft): number =>
  (typeof draft === 'string' ? draft : JSON.stringify(draft)).length;

/** How often a tenant's schedule bills: the calendar period that ended before. */
export const billingScheduleFrequencies = scheduleFrequencies;

/** What the workflow of a schedule is given. */
export interface BillingScheduleInput {
  readonly tenantId: string;
  readonly every: (typeof billingScheduleFrequencies)[number];
}
