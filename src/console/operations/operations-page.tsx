import { useQuery, type QueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readAhead } from '../api/query-client.ts';
import { Page, Section } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Facts, Instant, orNone, Status as State } from '../shown/values.tsx';
import { status, type Status } from './queries.ts';
import { rangeText } from '../invoices/items.tsx';
import { isLoud, Load } from './load.tsx';
import { RatedMinutes } from './rated-minutes.tsx';

/** The most that the API counts of what waits, runs or failed. */
const mostCounted = '10000';

const countText = (count: string): string =>
  count === mostCounted ? `${quantityText(count)} or more` : quantityText(count);

/** Says what is bad, and what to do. */
const Bad = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div className="fault">
    <p>{children}</p>
  </div>
);

interface Part {
  readonly name: string;
  readonly does: string;
  readonly answers: boolean | null;
}

const partsOf = ({ database, broker, temporal, worker }: Status['parts']): readonly Part[] => [
  { name: 'Database', does: 'has everything', answers: database },
  { name: 'Usage log', does: 'takes usage events', answers: broker },
  { name: 'Temporal', does: 'runs workflows', answers: temporal },
  { name: 'Workers', does: 'rate usage, bill and send webhooks', answers: worker },
];

const answerText = (answers: boolean | null): string =>
  answers === null ? 'unknown: this process has none' : answers ? 'answers' : 'does not answer';

const partColumns: readonly Column<Part>[] = [
  { name: 'Part', show: ({ name }) => name },
  { name: 'What it does', show: ({ does }) => does },
  { name: 'Status', show: ({ answers }) => <State name={answerText(answers)} /> },
];

const Parts = ({ of }: { readonly of: Status['parts'] }): ReactNode => {
  const parts = partsOf(of);
  return (
    <Section title="Parts">
      {parts.some(({ answers }) => answers === false) ? (
        <Bad>
          A part does not answer. What was accepted is kept, and goes on once it does. Tell whoever
          runs this instance: <code>durabill status</code> and the log say why.
        </Bad>
      ) : null}
      <DataTable
        caption="Parts of this instance"
        columns={partColumns}
        rows={parts}
        keyOf={({ name }) => name}
      />
    </Section>
  );
};

/** How long events wait until somebody should look. */
const lateMs = 60_000;

const isLate = (since: string | null, at: string): boolean =>
  since !== null && Date.parse(at) - Date.parse(since) > lateMs;

const Rating = ({ of: { usage, at } }: { readonly of: Status }): ReactNode => (
  <Section title="Usage">
    {isLate(usage.pendingSince, at) ? (
      <Bad>
        Events have waited for more than a minute. They are rated once workers come to them; where
        the wait grows, whoever runs this instance adds workers, or finds{' '}
        <code>cannot rate usage</code> in the log.
      </Bad>
    ) : null}
    {isLate(usage.totalsPendingSince, at) ? (
      <Bad>
        Totals are added up late. They stay exact and become slow: whoever runs this instance finds{' '}
        <code>cannot project or move usage</code> in the log.
      </Bad>
    ) : null}
    <Facts
      of={[
        [
          'Waiting events',
          usage.pending === null ? 'unknown: the log does not answer' : quantityText(usage.pending),
        ],
        ['The oldest waits since', <Instant key="pending" at={usage.pendingSince} />],
        ['Rejected events', quantityText(usage.rejected)],
        ['Not in totals yet, since', <Instant key="totals" at={usage.totalsPendingSince} />],
      ]}
    />
    {usage.rejected === '0' ? null : (
      <p>
        Rejected events wait until they are mended:{' '}
        <Link to="/usage/events" search={{ status: 'rejected' }}>
          look at rejected events
        </Link>
      </p>
    )}
    <RatedMinutes usage={usage} at={at} />
  </Section>
);

const auditWorkflow = 'audit-usage';

const AuditLink = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <Link to="/workflows/$workflowId" params={{ workflowId: auditWorkflow }}>
    {children}
  </Link>
);

/** Counters and totals are compared whole: only charges are of a sample. */
const sampleText = (percent: string | null): ReactNode =>
  percent === null
    ? orNone(null)
    : percent === '100'
      ? 'none: every event of the period'
      : `${percent} % of the events of the period: nothing is said of the charges of the others`;

function Audit({ of }: { readonly of: Status['audit'] }): ReactNode {
  if (of === null) {
    return (
      <Section title="Audit of usage">
        <Empty>
          <p>Usage was never audited: nobody has computed it again and compared it.</p>
          <p>
            <AuditLink>Audit a period</AuditLink>
          </p>
        </Empty>
      </Section>
    );
  }
  const { executionId, status: state, periodStart, periodEnd, completedAt, differences } = of;
  const countOrNone = (count: string | null): ReactNode =>
    count === null ? orNone(null) : quantityText(count);
  const params = { workflowId: auditWorkflow, executionId };
  return (
    <Section title="Audit of usage">
      {differences === '0' ? null : (
        <Bad>
          {differences === null
            ? 'The last audit was not completed: its execution says why. '
            : 'What was recorded differs from what it comes to. Bill nothing of it before it is understood: the output of the execution names each difference. '}
          <AuditLink>Audit a period</AuditLink>
        </Bad>
      )}
      <Facts
        of={[
          ['Status', <State key="status" name={state} />],
          ['Events looked at', countOrNone(of.events)],
          ['Of them not computed again', countOrNone(of.unchecked)],
          ['Differences', countOrNone(differences)],
          ['Sample', sampleText(of.samplePercent)],
          ['Period', orNone(rangeText(periodStart, periodEnd))],
          ['Ended', <Instant key="ended" at={completedAt} />],
          [
            'Output',
            <Link
              key="execution"
              to="/workflows/$workflowId/executions/$executionId"
              params={params}
            >
              The last audit
            </Link>,
          ],
        ]}
      />
    </Section>
  );
}

const Webhooks = ({ of }: { readonly of: Status['webhooks'] }): ReactNode => (
  <Section title="Webhooks">
    {of.failing === '0' ? null : (
      <Bad>
        Nothing reaches a receiver. It is tried again by itself, ever more seldom, until it is given
        up; its page says what it answered: <Link to="/webhooks">look at webhooks</Link>
      </Bad>
    )}
    {of.failed === '0' ? null : (
      <Bad>
        Something was given up. Once its receiver is back, send it again from its page:{' '}
        <Link to="/webhooks">look at what was given up</Link>
      </Bad>
    )}
    <Facts
      of={[
        ['Deliveries under way', countText(of.pending)],
        ['Given up in 24 hours', countText(of.failed)],
        ['Webhooks that nothing reaches', quantityText(of.failing)],
        ['The first of them since', <Instant key="since" at={of.failingSince} />],
      ]}
    />
  </Section>
);

type Failure = Status['executions']['failures'][number];

const failureColumns: readonly Column<Failure>[] = [
  {
    name: 'Workflow',
    show: ({ workflowId, executionId, workflowName }) => (
      <Link
        to="/workflows/$workflowId/executions/$executionId"
        params={{ workflowId, executionId }}
      >
        <bdi>{workflowName}</bdi>
      </Link>
    ),
  },
  { name: 'Status', show: ({ status: state }) => <State name={state} /> },
  { name: 'Ended', show: ({ completedAt }) => <Instant at={completedAt} /> },
  { name: 'Why', show: ({ message }) => <bdi>{orNone(message)}</bdi> },
];

const Executions = ({ of }: { readonly of: Status['executions'] }): ReactNode => (
  <Section title="Executions">
    <Facts
      of={[
        ['Running', countText(of.running)],
        ['The oldest runs since', <Instant key="since" at={of.runningSince} />],
        ['Failed in 24 hours', countText(of.failed)],
      ]}
    />
    {of.failures.length === 0 ? null : (
      <>
        <p>
          Each says why it failed. Once that is mended, its page leads to the form with the same
          input.
        </p>
        <DataTable
          caption="Executions that failed, the last first"
          columns={failureColumns}
          rows={of.failures}
          keyOf={({ executionId }) => executionId}
        />
      </>
    )}
  </Section>
);

/** What is bad, in a word each: it is said when it turns so. */
const concernsOf = (of: Status): readonly string[] => {
  const { usage, at, audit, webhooks, executions, parts } = of;
  return [
    ...(isLoud(of) ? ['requests are refused'] : []),
    ...(isLate(usage.pendingSince, at) ? ['usage waits'] : []),
    ...(isLate(usage.totalsPendingSince, at) ? ['totals are late'] : []),
    ...(audit !== null && audit.differences !== '0' ? ['the last audit'] : []),
    ...(usage.rejected === '0' ? [] : ['rejected events']),
    ...(webhooks.failing === '0' && webhooks.failed === '0' ? [] : ['webhooks']),
    ...(executions.failed === '0' ? [] : ['executions that failed']),
    ...(partsOf(parts).some(({ answers }) => answers === false) ? ['a part does not answer'] : []),
  ];
};

/** What it reads first. */
export function ahead(client: QueryClient): void {
  void readAhead(client, status);
}

/** How it goes: what waits, what was rated, what was audited, what failed, and which parts answer. */
export function OperationsPage(): ReactNode {
  const query = useQuery(status);
  return (
    <Page title="Operations">
      <Loaded query={query}>
        {(of) => (
          <>
            <p role="status">
              {concernsOf(of).length === 0 ? '' : `To be looked at: ${concernsOf(of).join(', ')}.`}
            </p>
            <Rating of={of} />
            <Load of={of} />
            <Audit of={of.audit} />
            <Webhooks of={of.webhooks} />
            <Executions of={of.executions} />
            <Parts of={of.parts} />
            <p className="muted">
              As of <Instant at={of.at} />.
            </p>
          </>
        )}
      </Loaded>
    </Page>
  );
}
