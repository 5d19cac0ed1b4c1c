import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { digits } from '../api/digits.ts';
import { writeExact } from '../api/exact-json.ts';
import { read } from '../api/problem.ts';
import { readInvoiceNo, readWholeInvoice } from '../api/whole-invoice.ts';

/** Rows a page: as many as billing lists give at most. */
export const pageSize = 20;
/** Charges of an item that a page shows. */
export const chargesSize = 50;

/** What the list may be asked for, and the words for it. */
export const invoiceStatuses = [
  ['open', 'Open'],
  ['overdue', 'Overdue'],
  ['paid', 'Paid'],
  ['void', 'Void'],
] as const;

export interface InvoiceSearch {
  readonly q?: string;
  readonly fromDate?: string;
  readonly toDate?: string;
  readonly periodFromDate?: string;
  readonly periodToDate?: string;
  readonly accountId?: string;
  readonly billingRunId?: string;
  readonly status?: string;
  readonly page?: number;
}

/**
 * How its payment stands, in the list and on its page, by the words of the list's filter; nobody owes what
 * is void, or credits another invoice.
 */
export function paymentOf({
  status,
  creditedInvoiceId,
  dueStatus,
  paymentStatus,
  invoiceType,
}: {
  readonly status: string | undefined;
  readonly invoiceType: string | undefined;
  readonly creditedInvoiceId: string | null;
  readonly dueStatus: string;
  readonly paymentStatus: string | undefined;
}): string | null {
  if (status === 'Void' || creditedInvoiceId !== null) return null;
  // Owed to the customer, until something is paid with it.
  if (invoiceType === 'Credit Note') return dueStatus === 'Settled' ? 'Settled' : 'Open';
  if (dueStatus === 'Overdue') return 'Overdue';
  if (dueStatus === 'Settled') return 'Paid';
  return paymentStatus === 'Partially Paid' ? 'Partially paid' : 'Not due';
}

export const invoiceList = ({ page = 0, status, ...search }: InvoiceSearch) =>
  queryOptions({
    queryKey: ['invoices', search, status, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      // What an address says that is none of them the API refuses.
      const chosen = status ? { status: status as (typeof invoiceStatuses)[number][0] } : {};
      const query = { page: digits(page), size: digits(pageSize), ...search, ...chosen };
      const path = '/api/v1/external/invoices';
      return (await read(api.GET(path, { params: { query }, signal }))).data;
    },
  });

export const invoice = (invoiceId: string) =>
  queryOptions({
    queryKey: ['invoice', invoiceId],
    queryFn: ({ signal }) => readWholeInvoice(api, invoiceId, signal, true),
  });

/** The number of an invoice alone, without any of its items. */
export const invoiceNo = (invoiceId: string) =>
  queryOptions({
    queryKey: ['invoice', invoiceId, 'number'],
    queryFn: ({ signal }) => readInvoiceNo(api, invoiceId, signal),
  });

export const pdfOf = (invoiceId: string): string =>
  `/api/v1/external/invoices/${encodeURIComponent(invoiceId)}/pdf`;

const dayMs = 86_400_000;
const dayAfter = (day: string): string =>
  new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);

/** All invoices of these days and this account as CSV: the API knows no other filters of them. */
export function csvOf({ fromDate, toDate, accountId }: InvoiceSearch): string {
  const query = new URLSearchParams({ format: 'csv' });
  if (fromDate) query.set('from', fromDate);
  // Until that day, and with it.
  if (toDate) query.set('to', dayAfter(toDate));
  if (accountId) query.set('accountId', accountId);
  return `/v1/exports/invoices?${query.toString()}`;
}

export type WholeInvoice = Schemas['Invoice'];

export const creditNotes = (invoiceId: string) =>
  queryOptions({
    queryKey: ['credit notes', invoiceId],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/invoices/{invoiceId}/credit-notes', {
          params: { path: { invoiceId } },
          signal,
        }),
      ),
  });

/** Amounts of items, as they were typed; undefined: all that is left. */
export type Credited = readonly { readonly itemId: string; readonly amount: string }[] | undefined;

const creditBody = (reason: string, items: Credited) => ({
  body: { reason, ...(items === undefined ? {} : { items: [...items] }) },
  bodySerializer: () =>
    writeExact({
      reason,
      ...(items === undefined
        ? {}
        : { items: items.map(({ itemId, amount }) => ({ itemId, amount: { '#': amount } })) }),
    }),
});

export const credit = (invoiceId: string, reason: string, items: Credited) =>
  read(
    api.POST('/v1/invoices/{invoiceId}/credit-notes', {
      params: {
        path: { invoiceId },
        header: { 'Idempotency-Key': newKey() },
      },
      ...creditBody(reason, items),
    }),
  );

export const previewCredit = (invoiceId: string, reason: string, items: Credited) =>
  read(
    api.POST('/v1/invoices/{invoiceId}/credit-notes/preview', {
      params: { path: { invoiceId } },
      ...creditBody(reason, items),
    }),
  );

export const previewVoid = (invoiceId: string) =>
  read(api.POST('/v1/invoices/{invoiceId}/void/preview', { params: { path: { invoiceId } } }));

export const voidInvoice = (invoiceId: string, reason: string) =>
  read(
    api.POST('/v1/invoices/{invoiceId}/void', {
      params: { path: { invoiceId } },
      body: { reason },
    }),
  );

/** Why an invoice is as high as it is, without the detail of its items. */
export const invoiceSummary = (invoiceId: string) =>
  queryOptions({
    queryKey: ['invoice summary', invoiceId],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/invoices/{invoiceId}/explain', {
          params: { path: { invoiceId }, query: { summaryOnly: true } },
          signal,
        }),
      ),
  });

export const explainedItem = (invoiceId: string, itemId: string, page: number) =>
  queryOptions({
    queryKey: ['explained item', invoiceId, itemId, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/invoices/{invoiceId}/explain', {
          params: {
            path: { invoiceId },
            query: { itemId, limit: digits(chargesSize), offset: digits(page * chargesSize) },
          },
          signal,
        }),
      ),
  });
