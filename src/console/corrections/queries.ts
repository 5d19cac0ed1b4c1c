import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, keeping, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import { live } from '../live/live.ts';

export type Correction = Schemas['UsageCorrection'];

/** What a correction has done, in words. */
export const kindNames: Readonly<Record<string, string>> = {
  cancel: 'Canceled',
  amend: 'Amended',
  rerate: 'Rated again',
};

const readCharges = keeping('firstDifference');

export const size = 25;

export const correctionList = ({
  eventId,
  page = 0,
}: {
  readonly eventId?: string;
  readonly page?: number;
}) => {
  const query = {
    limit: digits(size),
    offset: digits(page * size),
    ...(eventId ? { eventId } : {}),
  };
  return queryOptions({
    queryKey: ['corrections', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => read(api.GET('/v1/corrections', { params: { query }, signal })),
  });
};

export const correction = (correctionId: string) =>
  queryOptions({
    queryKey: ['correction', correctionId],
    queryFn: ({ signal }) =>
      read(
        api.GET('/v1/corrections/{correctionId}', { params: { path: { correctionId } }, signal }),
      ),
  });

/** Charges before and after, with the first step in which they part; fewer where their messages are long. */
export const correctedCharges = (correctionId: string, first: number) =>
  queryOptions({
    queryKey: ['corrected charges', correctionId, first],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      readCharges((from) =>
        from.GET('/v1/corrections/{correctionId}/charges', {
          params: {
            path: { correctionId },
            query: { explain: true, limit: digits(size), offset: digits(first) },
          },
          signal,
        }),
      ),
  });

/** What is rated again: a time, and perhaps of one account or service alone. */
export interface Wanted {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  readonly accountId?: string | null;
  readonly contractId?: string | null;
  readonly serviceId?: string | null;
}

/** What rating again comes to; of a dry run what it would. */
export type Rerated = Pick<
  Correction,
  'events' | 'changed' | 'rejected' | 'before' | 'after' | 'accounts'
> & { readonly correctionId: string | null };

/** The document leaves open what an execution takes and gives: that of `rerate-usage` is known. */
export type Rerating = Omit<Schemas['Execution'], 'input' | 'output'> & {
  readonly input: (Wanted & { readonly dryRun: boolean }) | null;
  readonly output: Rerated | null;
};

const workflowId = 'rerate-usage';

export const rerating = (executionId: string) =>
  queryOptions({
    queryKey: ['rerating', executionId],
    ...live('executions', executionId),
    // It is known a moment after it was started.
    retry: 3,
    queryFn: async ({ signal }) =>
      (await read(
        api.GET('/v1/workflows/{workflowId}/executions/{executionId}', {
          params: { path: { workflowId, executionId } },
          signal,
        }),
      )) as Rerating,
  });

/** Rates usage again; a dry run writes nothing. */
export const rerate = (wanted: Wanted, dryRun: boolean) =>
  read(
    api.POST('/v1/workflows/{workflowId}/execute', {
      params: { path: { workflowId }, header: { 'Idempotency-Key': newKey() } },
      body: { data: { ...wanted, dryRun }, async: true },
    }),
  );

/** The same of one event: a correction of a range may have a million others. */
export const correctedChargesOf = (correctionId: string, eventId: string) =>
  queryOptions({
    queryKey: ['corrected charges', correctionId, 'of', eventId],
    queryFn: ({ signal }) =>
      readCharges((from) =>
        from.GET('/v1/corrections/{correctionId}/charges', {
          params: { path: { correctionId }, query: { explain: true, eventId } },
          signal,
        }),
      ),
  });
