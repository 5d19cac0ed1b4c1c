import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api/problem.ts';
import { applyTheme, chosenTheme } from './frame/theme.ts';
import { followChanges } from './live/live.ts';
import { router } from './router.tsx';
import { isServerAway, listenToConnection } from './session/connection.ts';
import './style/console.css';
import './style/figures.css';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      networkMode: 'always',
      // Until the server is back; what it refused, it would refuse again.
      retry: (_count, error) => error instanceof ApiProblem && error.isPassing,
      retryDelay: 2_000,
      refetchOnWindowFocus: false,
    },
    mutations: { networkMode: 'always' },
  },
});

listenToConnection(() => {
  if (!isServerAway()) void client.invalidateQueries();
});

followChanges(client);
applyTheme(chosenTheme());

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
