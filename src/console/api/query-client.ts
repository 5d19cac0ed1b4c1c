import { QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './problem.ts';

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
        // Until the server is back; what it refused, it would refuse again.
        retry: (_count, error) => error instanceof ApiProblem && error.isPassing,
        retryDelay: 2_000,
        refetchOnWindowFocus,
      },
      mutations: { networkMode: 'always' },
    },
  });
