import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { account, service } from '../accounts/queries.ts';
import { digits } from '../api/digits.ts';
import { api } from '../api/client.ts';
import { read } from '../api/problem.ts';
import { useSession } from '../session/signed-in.tsx';
import { orNone } from './values.tsx';

/** An account by its name, which leads to its page; the name is asked for where it is not known. */
export function AccountName({
  accountId,
  name,
}: {
  readonly accountId: string;
  readonly name?: string | null;
}): ReactNode {
  const isKnown = typeof name === 'string';
  const { data } = useQuery({ ...account(accountId), staleTime: 60_000, enabled: !isKnown });
  return (
    <Link to="/accounts/$accountId" params={{ accountId }}>
      <bdi>{name ?? data?.Name ?? accountId}</bdi>
    </Link>
  );
}

export function ServiceName({ serviceId }: { readonly serviceId: string }): ReactNode {
  const { data } = useQuery({ ...service(serviceId), staleTime: 60_000 });
  return <bdi>{data?.name ?? serviceId}</bdi>;
}

/** A page of a list at most. */
const keysMax = 100;

/** All keys that the API lists, by what rows call who has one. */
const keyNames = queryOptions({
  queryKey: ['access keys', 'names'],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    const query = { limit: digits(keysMax) };
    const { data } = await read(api.GET('/v1/access-keys', { params: { query }, signal }));
    return new Map(data.map(({ id, name }) => [`key:${id}`, name]));
  },
});

/** Who did something: a key by the name that it was given, for who may see keys. */
export function ActorName({ actor }: { readonly actor: string | null }): ReactNode {
  const session = useSession();
  const isAdmin = session.status === 'signedIn' && session.person.roles.includes('ADMIN');
  const isKey = actor?.startsWith('key:') === true;
  const { data } = useQuery({ ...keyNames, enabled: isAdmin && isKey });
  const name = actor === null ? undefined : data?.get(actor);
  return name ? (
    <span title={actor ?? undefined}>
      <bdi>{name}</bdi> (key)
    </span>
  ) : (
    <bdi>{orNone(actor)}</bdi>
  );
}
