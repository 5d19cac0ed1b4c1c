import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import { readInvoiceNo, readWholeInvoice } from '../api/whole-invoice.ts';
import { api } from './access.ts';
import type { UsageOf } from './opening.ts';

/** Rows a page. */
export const pageSize = 20;
/** More than there are in 30 days, whatever the currencies. */
const totalsMax = '400';

const dayMs = 86_400_000;
const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10);

const totals = (form: { bucket: 'day' } | { bucket: 'none'; groupBy: 'attribute' }) =>
  queryOptions({
    queryKey: ['usage', form.bucket],
    queryFn: async ({ signal }) => {
      const range = { from: dayOf(Date.now() - 29 * dayMs), to: dayOf(Date.now() + dayMs) };
      const query = { ...range, ...form, limit: totalsMax };
      return { range, ...(await read(api.GET('/v1/usage', { params: { query }, signal }))) };
    },
  });

export const usageByDay = totals({ bucket: 'day' });
export const usageByAttribute = totals({ bucket: 'none', groupBy: 'attribute' });

export const invoiceList = (page: number) =>
  queryOptions({
    queryKey: ['invoices', page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page: digits(page), size: digits(pageSize) };
      const path = '/api/v1/external/invoices';
      const { data } = await read(api.GET(path, { params: { query }, signal }));
      return { rows: data.content, total: data.totalElements };
    },
  });

export const pdfOf = (invoiceId: string): string => `/api/v1/external/invoices/${invoiceId}/pdf`;

export const invoiceNo = (invoiceId: string) =>
  queryOptions({
    queryKey: ['invoice', invoiceId, 'number'],
    queryFn: ({ signal }) => readInvoiceNo(api, invoiceId, signal),
  });

export const invoice = (invoiceId: string) =>
  queryOptions({
    queryKey: ['invoice', invoiceId],
    queryFn: ({ signal }) => readWholeInvoice(api, invoiceId, signal),
  });

export const eventList = (page: number, of: UsageOf | undefined) =>
  queryOptions({
    queryKey: ['events', page, of],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      // What repeats another event would stand there as charged nothing.
      const rated = { status: 'rated' } as const;
      const query = { ...of, ...rated, limit: digits(pageSize), offset: digits(page * pageSize) };
      const { data, pagination } = await read(
        api.GET('/v1/usage-events', { params: { query }, signal }),
      );
      return { rows: data, total: pagination.total };
    },
  });

export const receipt = (id: string) =>
  queryOptions({
    queryKey: ['receipt', id],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/usage-events/{id}', { params: { path: { id } }, signal })),
  });
