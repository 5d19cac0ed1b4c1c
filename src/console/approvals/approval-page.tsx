import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Page, Section, Trail } from '../frame/page.tsx';
import { useSession } from '../session/signed-in.tsx';
import { Action, Withheld } from '../shown/action.tsx';
import { Changes } from '../audit/changes.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { lackOfReason, Reason } from '../shown/field.tsx';
import { Json } from '../shown/json.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { ActorName } from '../shown/names.tsx';
import { Facts, Instant, orNone, Status } from '../shown/values.tsx';
import { isUuid } from '../usage/queries.ts';
import { membersOf, textIn, type Written } from '../api/written-json.ts';
import { OfRecord } from './of-record.tsx';
import { approval, decide, type Approval } from './queries.ts';

/** Why whoever is signed in may not approve this, and may not decide it at all; undefined: they may. */
function useReasonsAgainst({ roles, execution }: Approval) {
  const session = useSession();
  if (session.status !== 'signedIn') return {};
  const { person } = session;
  if (!roles.some((role) => person.roles.includes(role))) {
    return { deciding: `needs the role ${roles.join(' or ')}` };
  }
  const isOwn = execution?.notStarter === true && execution.startedBy === person.subject;
  return isOwn ? { approving: 'somebody else than who started it has to' } : {};
}

function Decide({ of }: { readonly of: Approval }): ReactNode {
  const [reason, setReason] = useState('');
  const { deciding, approving } = useReasonsAgainst(of);
  const approvalId = of.id;
  if (deciding !== undefined) {
    return (
      <Section title="Decide">
        <Withheld name="Approve or reject" reason={deciding} />
      </Section>
    );
  }
  return (
    <Section title="Decide">
      <Reason label="Reason" value={reason} onChange={setReason} />
      {approving === undefined ? (
        <Action
          operation="decideApproval"
          name="Approve"
          isPrimary
          onDo={() => decide(approvalId, 'approve', reason)}
          told={({ status }) => `It is ${status}.`}
        />
      ) : (
        <Withheld name="Approve" reason={approving} />
      )}
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
  { name: 'By', show: ({ decidedBy }) => <ActorName actor={decidedBy} /> },
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
      [
        'Started by',
        <span key="by">
          <ActorName actor={of.startedBy} />
          {of.notStarter ? ', who may not approve it' : null}
        </span>,
      ],
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

/** Of prices that were tried, where a workflow says which. */
function WhatWasTried({ of }: { readonly of: Written }): ReactNode {
  const named = membersOf(of).get('repricingId');
  const repricingId = named && textIn(named);
  return repricingId && isUuid(repricingId) ? (
    <p>
      <Link to="/prices/tried/$repricingId" params={{ repricingId }} search={{}}>
        What accounts would pay, and which limits are kept
      </Link>
    </p>
  ) : null;
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
              <>
                <WhatWasTried of={found.details} />
                <details>
                  <summary>All that the workflow says</summary>
                  <Json of={found.details} />
                </details>
              </>
            )}
            {found.decisions.length === 0 ? null : (
              <DataTable
                caption="Decisions"
                columns={decisions}
                rows={found.decisions}
                keyOf={({ decidedBy, decidedAt }) => `${decidedBy} ${decidedAt}`}
              />
            )}
            {found.status === 'pending' ? <Decide of={found} /> : null}
          </>
        )}
      </Loaded>
    </Page>
  );
}
