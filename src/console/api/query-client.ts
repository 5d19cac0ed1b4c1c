import {
  QueryClient,
  type DefaultError,
  type FetchQueryOptions,
  type QueryKey,
} from '@tanstack/react-query';
import { ApiProblem } from './problem.ts';

/** What was refused would be refused again. */
const isPassing = (error: unknown): boolean => error instanceof ApiProblem && error.isPassing;

/** What keeps answers of the API for as long as they are shown. */
export const openQueryClient = ({
  refetchOnWindowFocus,
}: {
  /** Whether somebody who comes back to the page sees what is there by then. */
  readonly refetchOnWindowFocus: boolean;
}): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        networkMode: 'always',
        // Until the server is back.
        retry: (_count, error) => isPassing(error),
        retryDelay: 2_000,
        refetchOnWindowFocus,
      },
      mutations: { networkMode: 'always' },
    },
  });

/** Reads what is probably shown next, unless it is kept already. What fails is said once it is shown. */
export async function readAhead<T, E = DefaultError, D = T, K extends QueryKey = QueryKey>(
  client: QueryClient,
  options: FetchQueryOptions<T, E, D, K>,
): Promise<void> {
  const { queryKey } = options;
  // It is tried again only where somebody waits for it by then.
  const isAwaited = (): boolean => client.getQueryCache().find({ queryKey })?.isActive() === true;
  await client.prefetchQuery({
    ...options,
    retry: (_count, error) => isPassing(error) && isAwaited(),
  });
}
