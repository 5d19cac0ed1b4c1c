import type { QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { Page, Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Field } from '../shown/field.tsx';
import { Filters } from '../shown/filters.tsx';
import { quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { AccountName, ActorName } from '../shown/names.tsx';
import { Instant, None, Status } from '../shown/values.tsx';
import { NotOver } from './not-over.tsx';
import { Schedules } from './schedules.tsx';
import { runList, schedules, size, startRun, type Wanted } from './queries.ts';

type Row = Schemas['BillingRunSummary'];

const countOrNone = (count: string | null): ReactNode =>
  count === null ? <None /> : quantityText(count);

const columns: readonly Column<Row>[] = [
  {
    name: 'Period',
    show: ({ id, periodStart, periodEnd }) => (
      <Link to="/billing/$billingRunId" params={{ billingRunId: id }}>
        {periodStart} to {periodEnd}
      </Link>
    ),
  },
  { name: 'Kind', show: ({ dryRun }) => (dryRun ? 'dry run' : 'run') },
  {
    name: 'Of',
    show: ({ accountId }) =>
      accountId === null ? 'all accounts' : <AccountName accountId={accountId} />,
  },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  { name: 'Invoices', isNumber: true, show: ({ invoiceCount }) => countOrNone(invoiceCount) },
  { name: 'Left out', isNumber: true, show: ({ leftOutCount }) => countOrNone(leftOutCount) },
  { name: 'By', show: ({ actor }) => <ActorName actor={actor} /> },
  { name: 'Began', show: ({ startedAt }) => <Instant at={startedAt} /> },
];

/** The days of the month before this one: what is billed at its end. */
function monthBefore(): Wanted {
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return {
    periodStart: dayOf(Date.UTC(year, month - 1, 1)),
    periodEnd: dayOf(Date.UTC(year, month, 0)),
  };
}

const kindNames = [
  ['', 'All'],
  ['run', 'Runs that billed'],
  ['dryRun', 'Dry runs'],
] as const;

const route = getRouteApi('/billing');

/** A dry run first: its page says what would be billed, and bills it. */
function Start(): ReactNode {
  const navigate = route.useNavigate();
  const { from, to, accountId } = route.useSearch();
  const [{ periodStart, periodEnd }, setPeriod] = useState(() => {
    const month = monthBefore();
    return { periodStart: from ?? month.periodStart, periodEnd: to ?? month.periodEnd };
  });
  return (
    <Section title="Bill a period">
      {accountId === undefined ? null : (
        <p>
          Of <AccountName accountId={accountId} /> alone.{' '}
          <Link
            from="/billing"
            to="/billing"
            search={({ accountId: _account, ...others }) => others}
          >
            Bill all accounts
          </Link>
        </p>
      )}
      <p>The dry run shows what would be billed and what would be left out. It writes nothing.</p>
      <div className="fields">
        <Field
          name="periodStart"
          label="First day"
          type="date"
          value={periodStart}
          onChange={(day) => setPeriod({ periodStart: day, periodEnd })}
        />
        <Field
          name="periodEnd"
          label="Last day"
          type="date"
          value={periodEnd}
          onChange={(day) => setPeriod({ periodStart, periodEnd: day })}
        />
      </div>
      <NotOver periodEnd={periodEnd} />
      <Action
        operation="executeWorkflow"
        name="Show what would be billed"
        isPrimary
        onDo={() => startRun({ periodStart, periodEnd, ...(accountId ? { accountId } : {}) }, true)}
        onDone={({ executionId }) =>
          void navigate({ to: '/billing/$billingRunId', params: { billingRunId: executionId } })
        }
      />
    </Section>
  );
}

/** What it reads first. */
export function ahead(
  client: QueryClient,
  { page = 0, kind = '' }: { page?: number; kind?: string },
): void {
  void readAhead(client, schedules);
  void readAhead(client, runList(page, kind));
}

/** Runs that have billed, or have shown what they would. */
export function RunsPage(): ReactNode {
  const { page = 0, kind = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const { query, onAhead } = useList((to) => runList(to, kind), page);
  return (
    <Page title="Billing">
      <Start />
      <Schedules />
      <Section title="Runs">
        <Filters
          label="Which runs"
          fields={[{ name: 'kind', label: 'Kind', value: kind, options: kindNames }]}
          onApply={(texts) =>
            void navigate({
              search: ({ page: _page, kind: _kind, ...others }) => ({ ...others, ...texts }),
              resetScroll: false,
            })
          }
        />
        <Listed
          query={query}
          onAhead={onAhead}
          caption="Billing runs, the latest first"
          name="billing runs"
          columns={columns}
          keyOf={({ id }) => id}
          page={page}
          size={size}
          onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
          empty={
            kind === '' ? (
              <p>Nothing was billed yet. Begin with a dry run of the last month.</p>
            ) : (
              <p>There is none of these.</p>
            )
          }
        />
      </Section>
    </Page>
  );
}
