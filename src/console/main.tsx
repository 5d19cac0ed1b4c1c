import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { openQueryClient } from './api/query-client.ts';
import { applyTheme, chosenTheme } from './frame/theme.ts';
import { followChanges } from './live/live.ts';
import { openRouter } from './router.tsx';
import { isServerAway, listenToConnection } from './session/connection.ts';
import './style/console.css';
import './style/figures.css';

// What others change is told, and read again then.
const client = openQueryClient({ refetchOnWindowFocus: false });

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
        <RouterProvider router={openRouter(client)} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
