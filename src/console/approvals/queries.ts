import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { keeping, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import type { Keeping } from '../api/written-json.ts';
import { live } from '../live/live.ts';

const ask = keeping('details', 'before', 'after');
export type Approval = Keeping<Schemas['Approval'], 'details' | 'before' | 'after'>;

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
    queryFn: ({ signal }) =>
      ask((from) => from.GET('/v1/approvals', { params: { query }, signal })),
  });
};

export const approval = (approvalId: string) =>
  queryOptions({
    queryKey: ['approval', approvalId],
    ...live('executions'),
    queryFn: ({ signal }) =>
      ask((from) =>
        from.GET('/v1/approvals/{approvalId}', { params: { path: { approvalId } }, signal }),
      ),
  });

export const decide = (approvalId: string, decision: 'approve' | 'reject', reason: string) =>
  ask((from) =>
    from.POST('/v1/approvals/{approvalId}', {
      params: { path: { approvalId } },
      body: { decision, ...(reason === '' ? {} : { reason }) },
    }),
  );
