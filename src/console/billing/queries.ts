import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { digits } from '../api/digits.ts';
import { writeExact } from '../api/exact-json.ts';
import { read } from '../api/problem.ts';
import { live } from '../live/live.ts';

export type Run = Schemas['BillingRun'];

export const size = 25;

export const runList = (page: number) =>
  queryOptions({
    queryKey: ['billing runs', page],
    placeholderData: keepPreviousData,
    ...live('executions'),
    queryFn: ({ signal }) => {
      const query = { limit: digits(size), offset: digits(page * size) };
      return read(api.GET('/v1/billing-runs', { params: { query }, signal }));
    },
  });

export const billingRun = (billingRunId: string) =>
  queryOptions({
    queryKey: ['billing run', billingRunId],
    ...live('executions', billingRunId),
    queryFn: ({ signal }): Promise<Run> =>
      read(
        api.GET('/v1/billing-runs/{billingRunId}', {
          params: { path: { billingRunId } },
          signal,
        }),
      ),
  });

/** What is billed: the days, and perhaps one account. */
export interface Wanted {
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly accountId?: string;
}

/** Starts a run; a dry one writes nothing. */
export const startRun = (wanted: Wanted, dryRun: boolean) =>
  read(
    api.POST('/v1/workflows/{workflowId}/execute', {
      params: {
        path: { workflowId: 'billing-run' },
        header: { 'Idempotency-Key': newKey() },
      },
      body: { data: { ...wanted, dryRun }, async: true },
    }),
  );

export type Schedule = Schemas['Schedule'];

export const schedules = queryOptions({
  queryKey: ['schedules'],
  queryFn: ({ signal }) => read(api.GET('/v1/schedules', { signal })),
});

/** Sets when a job begins by itself; what is left out stays as it is. */
export const setSchedule = (
  job: Schedule['job'],
  { hour, ...more }: Partial<Pick<Schedule, 'every' | 'hour' | 'paused'>>,
) =>
  read(
    api.PUT('/v1/schedules/{job}', {
      params: { path: { job } },
      body: { ...more, ...(hour === undefined ? {} : { hour }) },
      // The hour is a number to the API.
      bodySerializer: (body) =>
        writeExact(hour === undefined ? body : { ...body, hour: { '#': hour } }),
    }),
  );

export const removeSchedule = (job: Schedule['job']) =>
  read(api.DELETE('/v1/schedules/{job}', { params: { path: { job } } }));
