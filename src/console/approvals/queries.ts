import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { asJson, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { read } from '../api/problem.ts';
import { live } from '../live/live.ts';

export type Approval = Schemas['Approval'];

export const size = 25;

interface ApprovalSearch {
  readonly status?: string;
  readonly kind?: string;
  readonly page?: number;
}

export const approvalList = ({ status, kind, page = 0 }: ApprovalSearch) => {
  const query = {
    limit: digits(size),
    offset: digits(page * size),
    // What the API does not know it refuses, and says so.
    ...(status === 'any' ? {} : { status: (status ?? 'pending') as Approval['status'] }),
    ...(kind ? { kind: kind as Approval['kind'] } : {}),
  };
  return queryOptions({
    queryKey: ['approvals', query],
    placeholderData: keepPreviousData,
    // Others decide, too.
    ...live('executions'),
    queryFn: ({ signal }) => read(asJson.GET('/v1/approvals', { params: { query }, signal })),
  });
};

export const approval = (approvalId: string) =>
  queryOptions({
    queryKey: ['approval', approvalId],
    ...live('executions'),
    queryFn: ({ signal }) =>
      read(asJson.GET('/v1/approvals/{approvalId}', { params: { path: { approvalId } }, signal })),
  });

export const decide = (approvalId: string, decision: 'approve' | 'reject', reason: string) =>
  read(
    asJson.POST('/v1/approvals/{approvalId}', {
      params: { path: { approvalId } },
      body: { decision, ...(reason === '' ? {} : { reason }) },
    }),
  );
