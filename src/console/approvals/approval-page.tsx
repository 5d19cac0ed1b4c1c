import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Changes } from '../audit/changes.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { lackOfReason, Reason } from '../shown/field.tsx';
import { Json } from '../shown/json.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { Facts, Instant, orNone, Status } from '../shown/values.tsx';
import { OfRecord } from './of-record.tsx';
import { approval, decide, type Approval } from './queries.ts';

function Decide({ approvalId }: { readonly approvalId: string }): ReactNode {
  const [reason, setReason] = useState('');
  return (
    <Section title="Decide">
      <Reason label="Reason" value={reason} onChange={setReason} />
      <Action
        operation="decideApproval"
        name="Approve"
        isPrimary
        onDo={() => decide(approvalId, 'approve', reason)}
        told={({ status }) => `It is ${status}.`}
      />
      <Action
        operation="decideApproval"
        name="Reject"
        isDangerous
        lacks={lackOfReason(reason)}
        onDo={() => decide(approvalId, 'reject', reason)}
        told={({ status }) => `It is ${status}.`}
      />
    </Section>
  );
}

const decisions: readonly Column<Approval['decisions'][number]>[] = [
  { name: 'By', show: ({ decidedBy }) => <bdi>{decidedBy}</bdi> },
  { name: 'Decision', show: ({ decision }) => decision },
  { name: 'Reason', show: ({ reason }) => <bdi>{orNone(reason)}</bdi> },
  { name: 'At', show: ({ decidedAt }) => <Instant at={decidedAt} /> },
];

/** Where a step of a workflow waits, and what becomes of it. */
const Waiting = ({
  of,
  isPending,
}: {
  readonly of: NonNullable<Approval['execution']>;
  readonly isPending: boolean;
}): ReactNode => (
  <Facts
    of={[
      [
        'Workflow',
        <Link
          key="workflow"
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: of.workflowId, executionId: of.executionId }}
        >
          <bdi>{of.workflowName}</bdi>
        </Link>,
      ],
      ['Task', <code key="task">{of.task}</code>],
      ['Started by', of.notStarter ? `${of.startedBy}, who may not approve it` : of.startedBy],
      [isPending ? 'Waits until' : 'Would have waited until', <Instant key="due" at={of.dueAt} />],
      ...(isPending ? [['Then', of.onTimeout] as const] : []),
    ]}
  />
);

/** What is approved, and the way to it. */
function Approved({ of: { id, kind, accountId } }: { readonly of: Approval }): ReactNode {
  if (kind === 'service') {
    return (
      <Link to="/prices/$serviceId" params={{ serviceId: id }}>
        the service
      </Link>
    );
  }
  if (accountId === null) return 'a step of a workflow';
  return (
    <Link to="/accounts/$accountId" params={{ accountId }}>
      {kind === 'account' ? 'the account' : 'the contract, at its account'}
    </Link>
  );
}

const route = getRouteApi('/approvals/$approvalId');

/** What would change, and a decision about it. */
export function ApprovalPage(): ReactNode {
  const { approvalId } = route.useParams();
  const query = useQuery(approval(approvalId));
  const title = query.data?.title ?? 'Approval';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="approvals" to="/approvals" search={{}}>
              Approvals
            </Link>,
            <bdi key="approval">{title}</bdi>,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(found) => (
          <>
            <Facts
              of={[
                ['Status', <Status key="status" name={found.status} />],
                ['What', <Approved key="what" of={found} />],
                ['Needs', `${found.quorum} of ${found.roles.join(' or ')}`],
                ['Since', <Instant key="since" at={found.createdAt} />],
                ['Decided', <Instant key="decided" at={found.decidedAt} />],
              ]}
            />
            {found.execution === null ? null : (
              <Waiting of={found.execution} isPending={found.status === 'pending'} />
            )}
            {found.kind === 'workflow' || found.status !== 'pending' ? (
              <Changes before={found.before} after={found.after} />
            ) : (
              <OfRecord of={found} />
            )}
            {found.details === null ? null : (
              <details>
                <summary>All that the workflow says</summary>
                <Json of={found.details} />
              </details>
            )}
            {found.decisions.length === 0 ? null : (
              <DataTable
                caption="Decisions"
                columns={decisions}
                rows={found.decisions}
                keyOf={({ decidedBy, decidedAt }) => `${decidedBy} ${decidedAt}`}
              />
            )}
            {found.status === 'pending' ? <Decide approvalId={approvalId} /> : null}
          </>
        )}
      </Loaded>
    </Page>
  );
}
