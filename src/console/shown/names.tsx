import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { account, service } from '../accounts/queries.ts';

/** An account by its name, which leads to its page. */
export function AccountName({ accountId }: { readonly accountId: string }): ReactNode {
  const { data } = useQuery({ ...account(accountId), staleTime: 60_000 });
  return (
    <Link to="/accounts/$accountId" params={{ accountId }}>
      <bdi>{data?.Name ?? accountId}</bdi>
    </Link>
  );
}

export function ServiceName({ serviceId }: { readonly serviceId: string }): ReactNode {
  const { data } = useQuery(service(serviceId));
  return <bdi>{data?.name ?? serviceId}</bdi>;
}
