import {
  QueryClient,
  type DefaultError,
  type FetchQueryOptions,
  type QueryKey,
} from '@tanstack/react-query';
import { ApiProblem } from './problem.ts';

/** What was refused would be refused again. */
const isPassing = (error: unknown): boolean => error instanceof ApiProblem && error.isPassing;

/** What is kept is new for so long. */
const freshMs = 5_000;

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
        staleTime: freshMs,
        networkMode: 'always',
        // Until the server is back.
        retry: (_count, error) => isPassing(error),
        retryDelay: 2_000,
        refetchOnWindowFocus,
      },
      mutations: { networkMode: 'always' },
    },
  });

/** When what was read ahead is read again, if it is shown by then; else it is once it is shown. */
const againMs = 1_000;

/**
 * Reads what is probably shown next, so that it is there at once. What changes before somebody goes there
 * nobody is told: that is why it is read again, later. What fails is said to them, and to nobody before.
 */
export async function readAhead<T, E = DefaultError, D = T, K extends QueryKey = QueryKey>(
  client: QueryClient,
  options: FetchQueryOptions<T, E, D, K>,
): Promise<void> {
  const { queryKey } = options;
  const kept = () => client.getQueryCache().find({ queryKey, exact: true });
  const isShown = (): boolean => kept()?.isActive() === true;
  if (isShown() || Date.now() - (kept()?.state.dataUpdatedAt ?? 0) < freshMs) return;
  // It is tried again only where somebody waits for it by then.
  const retry = (_count: number, error: unknown) => isPassing(error) && isShown();
  await client.prefetchQuery({ ...options, retry });
  if (kept()?.state.status !== 'success') return;
  setTimeout(() => void client.invalidateQueries({ queryKey, exact: true }), againMs);
}
