import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';

/** Rows a page: as many as billing lists give at most. */
export const pageSize = 20;
/** Charges of an item that a page shows. */
export const chargesSize = 50;

export interface InvoiceSearch {
  readonly q?: string;
  readonly accountId?: string;
  readonly billingRunId?: string;
  readonly page?: number;
}

export const invoiceList = ({ page = 0, ...search }: InvoiceSearch) =>
  queryOptions({
    queryKey: ['invoices', search, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page: digits(page), size: digits(pageSize), ...search };
      const path = '/api/v1/external/invoices';
      return (await read(api.GET(path, { params: { query }, signal }))).data;
    },
  });

/** An invoice with all of its items, page after page. */
export const invoice = (invoiceId: string) =>
  queryOptions({
    queryKey: ['invoice', invoiceId],
    queryFn: async ({ signal }) => {
      const page = async (itemOffset: string) => {
        const answer = await read(
          api.GET('/api/v1/external/invoices/{invoiceId}', {
            params: { path: { invoiceId }, query: { itemOffset } },
            signal,
          }),
        );
        // The other form is that of `view=row`, which was not asked for.
        if ('data' in answer) throw new TypeError('The invoice came as a row.');
        return answer;
      };
      const first = await page('0');
      const items = [...first.items];
      for (let next = first.nextItemOffset; next !== null;) {
        const further = await page(next);
        items.push(...further.items);
        next = further.nextItemOffset;
      }
      return { ...first, items };
    },
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
