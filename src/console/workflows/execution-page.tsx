import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useList } from '../api/use-list.ts';
import { membersOf, textIn, type Written } from '../api/written-json.ts';
import { RecordLink } from '../audit/record-link.tsx';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Confirmed, useTold } from '../shown/confirmed.tsx';
import { instantText } from '../shown/format.ts';
import { Json } from '../shown/json.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { ActorName } from '../shown/names.tsx';
import { Facts, Instant, orNone, Status } from '../shown/values.tsx';
import { Deliveries } from './deliveries.tsx';
import { builtInIds, cancel, execution, tasksSize, timeline, type Execution } from './queries.ts';
import { durationText, TaskLines } from './task-lines.tsx';

/** What leads to the record of a flow in its output. */
const idNames: Readonly<Record<string, string>> = {
  account: 'id',
  service: 'id',
  contract: 'masterAccountId',
  payment: 'accountId',
};

const route = getRouteApi('/workflows/$workflowId/executions/$executionId');

/** The tasks of a workflow of the tenant's own; what is built in has its steps in Temporal. */
function Tasks({ of }: { readonly of: Execution }): ReactNode {
  const { page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const { query, onAhead } = useList(
    (to) => timeline(of.workflowId, of.executionId, of.status === 'running', to),
    page,
  );
  return (
    <Section title="Tasks">
      <Loaded query={query}>
        {({ data, pagination }) => (
          <>
            {/* Before the tasks, each of which is a stop of the tab key. */}
            {page === 0 && BigInt(pagination.total) <= BigInt(tasksSize) ? null : (
              <Pager
                name="tasks"
                first={page * tasksSize}
                shown={data.length}
                total={pagination.total}
                onMove={(by) => void navigate({ search: { page: page + by } })}
                onAhead={(by) => onAhead(page + by)}
              />
            )}
            {data.length === 0 ? <p>None of its tasks has begun.</p> : <TaskLines rows={data} />}
            {data.some(({ approval }) => approval?.status === 'pending') ? (
              <p>
                It waits for a decision:{' '}
                <Link to="/approvals" search={{}}>
                  approvals
                </Link>
                .
              </p>
            ) : null}
          </>
        )}
      </Loaded>
    </Section>
  );
}

const WhatItWas = ({ of }: { readonly of: Execution }): ReactNode => (
  <Facts
    of={[
      ['Status', <Status key="status" name={of.status} />],
      ['Workflow', <bdi key="name">{of.workflowName}</bdi>],
      ['Version', orNone(of.workflowVersion)],
      ['By', <ActorName key="by" actor={of.actor} />],
      ['Began', <Instant key="began" at={of.startedAt} />],
      ['Ended', <Instant key="ended" at={of.completedAt} />],
      ['Took', durationText(of.startedAt, of.completedAt)],
      [
        'Steps',
        of.temporalUrl === null ? (
          orNone(null)
        ) : (
          <a key="temporal" href={of.temporalUrl}>
            in Temporal
          </a>
        ),
      ],
    ]}
  />
);

/** What a flow has made or changed, which its name begins with; contracts and payments stand at their account. */
function Record({ of: { workflowName, output } }: { readonly of: Execution }): ReactNode {
  const type = workflowName.split('-')[0] ?? '';
  const members = output === null ? new Map<string, Written>() : membersOf(output);
  const named = members.get(idNames[type] ?? '');
  const id = named && textIn(named);
  if (!id || workflowName.endsWith('-delete')) return null;
  return (
    <p>
      <RecordLink of={{ type: type === 'service' ? type : 'account', id }}>
        {type === 'service' ? 'Its service' : 'Its account'}
      </RecordLink>
    </p>
  );
}

/** The page of what a built-in workflow comes to, where it has one. */
const Result = ({ of }: { readonly of: Execution }): ReactNode =>
  of.workflowVersion !== null ? null : of.workflowName !== 'reprice' ? (
    <Record of={of} />
  ) : (
    <p>
      <Link to="/prices/tried/$repricingId" params={{ repricingId: of.executionId }} search={{}}>
        What accounts would pay with these prices
      </Link>
    </p>
  );

/** The way to do the same again, changed or not; what an operation of its own starts has no form. */
function Again({ of }: { readonly of: Execution }): ReactNode {
  const isOwn = of.workflowVersion !== null;
  const { data } = useQuery({ ...builtInIds, enabled: !isOwn });
  if (!isOwn && data?.includes(of.workflowId) !== true) return null;
  return (
    <p>
      <Link
        to="/workflows/$workflowId"
        params={{ workflowId: of.workflowId }}
        search={{ again: of.executionId }}
      >
        Execute it again with this input
      </Link>
    </p>
  );
}

/** What an execution has done, step by step, while it does it. */
export function ExecutionPage(): ReactNode {
  const { workflowId, executionId } = route.useParams();
  const query = useQuery(execution(workflowId, executionId));
  const [told, tell] = useTold();
  const found = query.data;
  const title = found ? `Execution of ${instantText(found.startedAt)}` : 'Execution';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="workflows" to="/workflows">
              Workflows
            </Link>,
            <Link key="workflow" to="/workflows/$workflowId" params={{ workflowId }} search={{}}>
              <bdi>{found?.workflowName ?? 'Workflow'}</bdi>
            </Link>,
            'Execution',
          ]}
        </Trail>
      }
    >
      {told}
      <Loaded query={query}>
        {(of) => (
          <>
            <WhatItWas of={of} />
            <Result of={of} />
            {of.error === null ? null : (
              <div className="fault">
                <p>
                  <strong>It failed: {of.error.code}</strong>
                </p>
                <p>{of.error.message}</p>
                <Json of={of.error.details} />
              </div>
            )}
            {of.status === 'running' ? (
              <Confirmed
                operation="cancelExecution"
                name="Cancel it"
                onDo={() => cancel(workflowId, executionId)}
                onDone={() => tell('It is told to end.')}
              >
                <p>
                  It ends after what is under way, and cannot go on again.{' '}
                  {of.workflowVersion === null
                    ? 'What its steps have written stays.'
                    : 'What its tasks did is taken back where they say how, the latest first.'}
                </p>
              </Confirmed>
            ) : null}
            {of.workflowVersion === null ? null : <Tasks of={of} />}
            <Section title="Input">
              <Json of={of.input} />
              {of.status === 'running' ? null : <Again of={of} />}
            </Section>
            <Section title="Output">
              <Json of={of.output} />
            </Section>
            <Deliveries of={of} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
