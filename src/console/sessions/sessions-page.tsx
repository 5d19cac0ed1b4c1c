import { keepPreviousData, queryOptions, type QueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/signed-in.tsx';
import { Confirmed, useTold } from '../shown/confirmed.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Listed } from '../shown/listed.tsx';
import { Instant, orNone } from '../shown/values.tsx';

type Grant = Schemas['OauthGrant'];

/** Says what became of a row, which has no button any more then. */
type Tell = (text: string) => void;

const size = 25;

const grantList = (page: number) =>
  queryOptions({
    queryKey: ['oauth grants', page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { limit: digits(size), offset: digits(page * size) };
      return read(api.GET('/v1/oauth/grants', { params: { query }, signal }));
    },
  });

const endSession = (grantId: string) =>
  read(api.DELETE('/v1/oauth/grants/{grantId}', { params: { path: { grantId } } }));

/** With what somebody signed in: at a provider, or with what this instance gave him. */
const means = ({ issuer, accessKeyId }: Grant): ReactNode => {
  if (issuer !== null) return <bdi>{new URL(issuer).host}</bdi>;
  return accessKeyId === null ? 'a token' : 'an access key';
};

/** A session goes on while it is used, but for no longer than what it was begun with. */
const Ends = ({ of: { expiresAt, endsAt } }: { readonly of: Grant }): ReactNode => (
  <>
    <Instant at={expiresAt} />
    {endsAt !== null && Date.parse(endsAt) <= Date.parse(expiresAt) ? '' : ' unless it is used'}
  </>
);

/** What somebody may do with it: no more than the role allows, and no more than the session. */
const mayOf = ({ roles, scopes }: Grant): string => {
  const mayWrite = scopes.includes('mcp:write') && roles.some((role) => role !== 'READER');
  return `${roles.join(', ')}: ${mayWrite ? 'read and write' : 'read only'}`;
};

const isOver = ({ expiresAt }: Grant): boolean => Date.parse(expiresAt) <= Date.now();

/** Whether it is the session of this browser. */
function useIsOwn({ id }: Grant): boolean {
  const session = useSession();
  return session.status === 'signedIn' && session.person.grantId === id;
}

const Whose = ({ of }: { readonly of: Grant }): ReactNode => (
  <>
    <bdi>{of.subject}</bdi>
    {useIsOwn(of) ? (
      <>
        {' '}
        <strong className="whole">this browser</strong>
      </>
    ) : null}
  </>
);

/** What ends with it, before it does. */
function End({ of, onTold }: { readonly of: Grant; readonly onTold: Tell }): ReactNode {
  const isOwn = useIsOwn(of);
  return (
    <Confirmed
      operation="revokeOauthGrant"
      name={isOwn ? 'End session of this browser' : `End session of ${of.subject}`}
      onDo={() => endSession(of.id)}
      onDone={() => onTold(`The session of ${of.subject} has ended.`)}
    >
      <p>
        {isOwn
          ? 'You are signed in with it: this browser has to sign in again.'
          : 'Whoever uses it is refused at once, and has to sign in again.'}
      </p>
    </Confirmed>
  );
}

const columnsOf = (onTold: Tell): readonly Column<Grant>[] => [
  { name: 'Whose', show: (grant) => <Whose of={grant} /> },
  { name: 'By', show: ({ clientName }) => <bdi>{orNone(clientName)}</bdi> },
  { name: 'May', show: mayOf },
  { name: 'Since', show: ({ createdAt }) => <Instant at={createdAt} /> },
  { name: 'Ends', show: (grant) => <Ends of={grant} /> },
  { name: 'Signed in with', show: means },
  {
    name: 'End',
    show: (grant) => {
      const { revokedAt, revokedReason } = grant;
      if (revokedAt !== null) {
        return (
          <>
            <Instant at={revokedAt} /> {revokedReason}
          </>
        );
      }
      if (isOver(grant)) return 'over';
      return <End of={grant} onTold={onTold} />;
    },
  },
];

const route = getRouteApi('/sessions');

/** What it reads first. */
export function ahead(client: QueryClient, { page = 0 }: { page?: number }): void {
  void readAhead(client, grantList(page));
}

/** Who is signed in, here and with other clients, and until when. */
export function SessionsPage(): ReactNode {
  const { page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const { query, onAhead } = useList(grantList, page);
  const [told, tell] = useTold();
  return (
    <Page title="Sessions">
      <p>
        Who is signed in to this console, and which assistants were let in. Ending one takes effect
        at once.
      </p>
      {told}
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Sessions, the latest first"
        name="sessions"
        columns={columnsOf(tell)}
        keyOf={({ id }) => id}
        page={page}
        size={size}
        onMove={(to) => void navigate({ search: { page: to } })}
        empty={<p>Nobody is signed in.</p>}
      />
    </Page>
  );
}
