import type { QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page } from '../frame/page.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Listed } from '../shown/listed.tsx';
import { SearchForm } from '../shown/search-form.tsx';
import { orNone, Status } from '../shown/values.tsx';
import { FirstRun } from './first-run.tsx';
import { accountList, pageSize } from './queries.ts';

type Row = Schemas['AccountRow'];

const columns: readonly Column<Row>[] = [
  {
    name: 'Name',
    show: ({ Id, Name }) => (
      <Link to="/accounts/$accountId" params={{ accountId: Id }}>
        <bdi>{Name}</bdi>
      </Link>
    ),
  },
  { name: 'Number', show: ({ Number: number }) => orNone(number) },
  { name: 'External id', show: ({ ExternalId }) => orNone(ExternalId) },
  { name: 'Currency', show: ({ DefaultCurrency__r: currency }) => orNone(currency?.Name) },
  { name: 'Approval', show: ({ ApprovalStatus__r: status }) => <Status name={status?.Name} /> },
  { name: 'Status', show: ({ Status__r: status }) => <Status name={status?.Name} /> },
];

const route = getRouteApi('/accounts');

/** What it reads first. */
export function ahead(client: QueryClient, search: Parameters<typeof accountList>[0]): void {
  void readAhead(client, accountList(search));
}

export function AccountsPage(): ReactNode {
  const given = route.useSearch();
  const { q, page = 0 } = given;
  const navigate = route.useNavigate();
  const { query, onAhead } = useList((to) => accountList({ ...given, page: to }), page);
  const search = (text: string): void =>
    void navigate({ search: text === '' ? {} : { q: text }, replace: true });
  return (
    <Page title="Accounts">
      <SearchForm
        label="Find accounts"
        hint="Name, number or external id"
        value={q ?? ''}
        onSearch={search}
      />
      {query.data === undefined || query.data.totalElements === '0' ? null : (
        <p>
          <Link to="/workflows/$workflowId" params={{ workflowId: 'account-create' }} search={{}}>
            Create an account
          </Link>
        </p>
      )}
      <FirstRun isEmpty={q === undefined && query.data?.totalElements === '0'} />
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Accounts"
        name="accounts"
        columns={columns}
        keyOf={({ Id }) => Id}
        page={page}
        size={pageSize}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={<NoAccounts isSearched={q !== undefined} />}
      />
    </Page>
  );
}

const NoAccounts = ({ isSearched }: { readonly isSearched: boolean }): ReactNode =>
  isSearched ? (
    <p>No account has this in its name, number or external id.</p>
  ) : (
    <>
      <p>This tenant has no accounts yet.</p>
      <p>
        <code>npm run --silent durabill -- demo --year</code> makes a tenant with customers and a
        year of usage to look around in, and prints the token to sign in with.{' '}
        <a href="/docs#tag/accounts">The API</a> creates accounts in yours, and so does{' '}
        <Link to="/workflows/$workflowId" params={{ workflowId: 'account-create' }} search={{}}>
          a form
        </Link>
        .
      </p>
    </>
  );
