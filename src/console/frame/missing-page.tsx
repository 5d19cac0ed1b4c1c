import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from './page.tsx';

export const MissingPage = (): ReactNode => (
  <Page title="There is nothing here">
    <p>The console has no page at this address.</p>
    <p>
      <Link to="/accounts">To the accounts</Link>
    </p>
  </Page>
);
