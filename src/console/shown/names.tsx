import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { account, service } from '../accounts/queries.ts';

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
