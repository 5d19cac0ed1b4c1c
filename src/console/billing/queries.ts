import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { digits } from '../api/digits.ts';
import { writeExact } from '../api/exact-json.ts';
import { read } from '../api/problem.ts';
import { live } from '../live/live.ts';
import { isSame } from './changes.ts';

export type Run = Schemas['BillingRun'];

export const size = 25;

export const runList = (page: number, kind: string) =>
  queryOptions({
    queryKey: ['billing runs', page, kind],
    placeholderData: keepPreviousData,
    ...live('executions'),
    queryFn: ({ signal }) => {
      const query = {
        limit: digits(size),
        offset: digits(page * size),
        // What the API does not know it refuses, and says so.
        ...(kind === '' ? {} : { kind: kind as 'run' }),
      };
      return read(api.GET('/v1/billing-runs', { params: { query }, signal }));
    },
  });

const readRun = (billingRunId: string, signal?: AbortSignal): Promise<Run> =>
  read(
    api.GET('/v1/billing-runs/{billingRunId}', {
      params: { path: { billingRunId } },
      ...(signal ? { signal } : {}),
    }),
  );

export const billingRun = (billingRunId: string) =>
  queryOptions({
    queryKey: ['billing run', billingRunId],
    ...live('executions', billingRunId),
    queryFn: ({ signal }) => readRun(billingRunId, signal),
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

/** What a run was asked for. */
export const wantedOf = ({ periodStart, periodEnd, accountId }: Run): Wanted => ({
  periodStart,
  periodEnd,
  ...(accountId === null ? {} : { accountId }),
});

const restMs = 500;

async function untilEnded(billingRunId: string): Promise<Run> {
  for (;;) {
    const run = await readRun(billingRunId);
    if (run.status === 'completed') return run;
    if (run.status !== 'running') throw new Error(run.error ?? `The dry run is ${run.status}.`);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

/** What came of a look before billing. */
export interface Looked {
  /** The run to be shown: that which bills, or a dry run of what would be billed now. */
  readonly runId: string;
  readonly isBilled: boolean;
}

/**
 * Bills what a dry run has shown if another one shows the same (docs/decisions/0552); the invoices of
 * what is too large to be shown are told by their number.
 */
export async function billAsShown(shown: Run): Promise<Looked> {
  const { billedBy } = await readRun(shown.id);
  if (billedBy !== null) return { runId: billedBy, isBilled: true };
  const wanted = wantedOf(shown);
  const { executionId } = await startRun(wanted, true);
  const now = await untilEnded(executionId);
  if (!isSame(shown, now)) return { runId: executionId, isBilled: false };
  return { runId: (await startRun(wanted, false)).executionId, isBilled: true };
}

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
