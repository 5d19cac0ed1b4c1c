import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, keeping, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';

export type Correction = Schemas['UsageCorrection'];

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
