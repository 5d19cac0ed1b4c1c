import {
  useQuery,
  useQueryClient,
  type QueryKey,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { readAhead } from './query-client.ts';

/**
 * A page of a list, and how another one is read before it is asked for: what of it is refused is said once
 * it is shown.
 */
export function useList<T, E, D, K extends QueryKey>(
  list: (page: number) => UseQueryOptions<T, E, D, K>,
  page: number,
): { readonly query: UseQueryResult<D, E>; readonly onAhead: (page: number) => void } {
  const client = useQueryClient();
  return {
    query: useQuery(list(page)),
    onAhead: (to) => void readAhead(client, list(to)),
  };
}
