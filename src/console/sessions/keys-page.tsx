import { keepPreviousData, queryOptions, type QueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page, Section } from '../frame/page.tsx';
import { useSession } from '../session/signed-in.tsx';
import { Action } from '../shown/action.tsx';
import { Confirmed, useTold } from '../shown/confirmed.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Field } from '../shown/field.tsx';
import { Listed } from '../shown/listed.tsx';
import { Instant, orNone, Status } from '../shown/values.tsx';

type AccessKey = Schemas['AccessKey'];
type Role = Schemas['AccessKeyCreate']['roles'][number];

/** Says what became of a row, which has no button any more then. */
type Tell = (text: string) => void;

const size = 25;

const keyList = (page: number) =>
  queryOptions({
    queryKey: ['access keys', page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { limit: digits(size), offset: digits(page * size) };
      return read(api.GET('/v1/access-keys', { params: { query }, signal }));
    },
  });

const makeKey = (body: Schemas['AccessKeyCreate']) => read(api.POST('/v1/access-keys', { body }));

const revokeKey = (keyId: string) =>
  read(api.DELETE('/v1/access-keys/{keyId}', { params: { path: { keyId } } }));

const roles: readonly (readonly [Role, string])[] = [
  ['READER', 'READER: looks'],
  ['OPERATOR', 'OPERATOR: sells and bills'],
  ['ADMIN', 'ADMIN: everything'],
];

const nameOf = ({ name, id }: Pick<AccessKey, 'name' | 'id'>): string => name ?? id;

/** What would stop, before it does: a key that was revoked never comes back. */
function Revoke({ of, onTold }: { readonly of: AccessKey; readonly onTold: Tell }): ReactNode {
  const session = useSession();
  const isOwn = session.status === 'signedIn' && session.person.subject === `key:${of.id}`;
  return (
    <Confirmed
      operation="revokeAccessKey"
      name={`Revoke ${nameOf(of)}`}
      onDo={() => revokeKey(of.id)}
      onDone={() => onTold(`${nameOf(of)} is revoked.`)}
    >
      <p>
        Whatever sends it is refused within five seconds, and what clients were allowed with it
        ends. It cannot be taken back.
        {isOwn ? ' You are signed in with it: your session ends, too.' : ''}
      </p>
    </Confirmed>
  );
}

const columnsOf = (onTold: Tell): readonly Column<AccessKey>[] => [
  { name: 'Name', show: ({ name }) => <bdi>{orNone(name)}</bdi> },
  { name: 'Id', show: ({ id }) => <code>{id}</code> },
  { name: 'May', show: ({ roles: held }) => held.join(', ') },
  { name: 'Organization', show: ({ orgId }) => <bdi>{orNone(orgId)}</bdi> },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  {
    name: 'Made',
    show: ({ createdAt, madeBy }) => (
      <>
        <Instant at={createdAt} />
        {madeBy === null ? null : (
          <>
            {' '}
            by <bdi>{madeBy}</bdi>
          </>
        )}
      </>
    ),
  },
  { name: 'Last used', show: ({ usedAt }) => <Instant at={usedAt} /> },
  { name: 'Ends', show: ({ expiresAt }) => <Instant at={expiresAt} /> },
  {
    name: 'Revoked',
    show: (key) =>
      key.status === 'valid' ? <Revoke of={key} onTold={onTold} /> : <Instant at={key.revokedAt} />,
  },
];

/** The key, which nobody is shown again. */
const Made = ({ of: { key, name } }: { readonly of: Schemas['AccessKeyMade'] }): ReactNode => (
  <div role="status" className="card">
    <p>
      <strong>
        The key <bdi>{name}</bdi>, shown this once:
      </strong>
    </p>
    <pre>{key}</pre>
    <p>Keep it where its program reads it. Whoever has it may do what it may.</p>
  </div>
);

/** What is to be given first; a key that ends at the begin of this day may be over before it is made. */
function lackOf(name: string, lastDay: string): string | undefined {
  if (name.trim() === '') return 'Say what it is for first.';
  return lastDay !== '' && Date.parse(`${lastDay}T00:00:00Z`) <= Date.now()
    ? `${lastDay} has begun: a key that ends then is over at once.`
    : undefined;
}

function Make(): ReactNode {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('READER');
  const [lastDay, setLastDay] = useState('');
  const [orgId, setOrgId] = useState('');
  const [made, setMade] = useState<Schemas['AccessKeyMade']>();
  return (
    <Section title="Make a key">
      <p>
        A program signs in with a key of its own. It can do no more than you can, and ends no later
        than what you are signed in with.
      </p>
      <div className="fields">
        <Field name="name" label="What it is for" value={name} onChange={setName} />
        <label>
          <span>May</span>
          <select
            name="roles"
            value={role}
            onChange={({ target }) => setRole(target.value as Role)}
          >
            {roles.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <Field
          name="expiresAt"
          label="Ends on, at 0:00 UTC"
          type="date"
          value={lastDay}
          onChange={setLastDay}
        />
        <Field name="orgId" label="Organization of its usage" value={orgId} onChange={setOrgId} />
      </div>
      <Action
        operation="createAccessKey"
        name="Make it"
        isPrimary
        lacks={lackOf(name, lastDay)}
        onDo={() =>
          makeKey({
            name: name.trim(),
            roles: [role],
            ...(orgId.trim() === '' ? {} : { orgId: orgId.trim() }),
            ...(lastDay === '' ? {} : { expiresAt: `${lastDay}T00:00:00Z` }),
          })
        }
        onDone={(key) => {
          setMade(key);
          setName('');
        }}
      />
      {made === undefined ? null : <Made of={made} />}
    </Section>
  );
}

const route = getRouteApi('/access-keys');

/** What it reads first. */
export function ahead(client: QueryClient, { page = 0 }: { page?: number }): void {
  void readAhead(client, keyList(page));
}

/** The keys of programs: which there are, what each may, and who uses it. */
export function KeysPage(): ReactNode {
  const { page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const { query, onAhead } = useList(keyList, page);
  const [told, tell] = useTold();
  return (
    <Page title="Access keys">
      <Make />
      <Section title="Keys">
        {told}
        <Listed
          query={query}
          onAhead={onAhead}
          caption="Access keys, the latest first"
          name="access keys"
          columns={columnsOf(tell)}
          keyOf={({ id }) => id}
          page={page}
          size={size}
          onMove={(to) => void navigate({ search: { page: to } })}
          empty={<p>There is no key yet: make one above.</p>}
        />
      </Section>
    </Page>
  );
}
