import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { WaitingOf } from './waiting.tsx';
import { Page, Section, Trail } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName, ActorName } from '../shown/names.tsx';
import { Code, Facts, Instant, None, orNone, Status } from '../shown/values.tsx';
import type { EventSearch } from '../usage/queries.ts';
import { BillIt, Changed } from './bill.tsx';
import { billingRun, type Run } from './queries.ts';

type Total = NonNullable<Run['totals']>[number];
type Draft = Run['drafts'][number];
type LeftOut = Run['problems'][number];

const totals: readonly Column<Total>[] = [
  { name: 'Of', show: ({ invoiceType, currency }) => `${invoiceType}, ${currency}` },
  { name: 'Invoices', isNumber: true, show: ({ count }) => quantityText(count) },
  { name: 'Amount', isNumber: true, show: ({ amount, currency }) => moneyText(amount, currency) },
  {
    name: 'Tax',
    isNumber: true,
    show: ({ taxAmount, currency }) => moneyText(taxAmount, currency),
  },
];

const drafts: readonly Column<Draft>[] = [
  {
    name: 'Account',
    show: ({ accountId, accountName }) => <AccountName accountId={accountId} name={accountName} />,
  },
  { name: 'Kind', show: ({ invoiceType }) => invoiceType },
  {
    name: 'Before',
    isNumber: true,
    show: ({ previousInvoiceId, previousTotal, currency }) =>
      previousInvoiceId === null || previousTotal === null ? (
        <None />
      ) : (
        <Link to="/invoices/$invoiceId" params={{ invoiceId: previousInvoiceId }}>
          {moneyText(previousTotal, currency)}
        </Link>
      ),
  },
  {
    name: 'Tax',
    isNumber: true,
    show: ({ taxAmount, currency }) => moneyText(taxAmount, currency),
  },
  { name: 'Total', isNumber: true, show: ({ total, currency }) => moneyText(total, currency) },
  {
    name: 'Difference',
    isNumber: true,
    show: ({ difference, currency }) =>
      difference === null ? <None /> : moneyText(difference, currency),
  },
];

const pending = 'USAGE_PENDING';

/** The message tells programs what to call; where events are left out, people have a page for them. */
const whyOf = ({ message, events, code }: LeftOut): string =>
  events === undefined
    ? message
    : code === pending
      ? 'Not rated yet: run the period again once they are.'
      : 'Rejected: mend the cause, try them again, and run the period again.';

/** The rejected events that it counted: those of its period, and of its account where it is of one. */
const rejectedIn = (
  { periodStart, periodEnd }: Run,
  { code, accountId }: LeftOut,
): EventSearch => ({
  status: 'rejected',
  code,
  from: periodStart,
  to: periodEnd,
  ...(accountId === null ? {} : { accountId }),
});

const leftOutOf = (run: Run): readonly Column<LeftOut>[] => [
  { name: 'Why', show: (problem) => <bdi>{whyOf(problem)}</bdi> },
  { name: 'Code', show: ({ code }) => <Code of={code} /> },
  {
    name: 'Account',
    show: ({ accountId }) => (accountId === null ? 'all' : <AccountName accountId={accountId} />),
  },
  {
    name: 'Events',
    isNumber: true,
    show: (problem) =>
      problem.events === undefined ? (
        <None />
      ) : (
        <Link
          to="/usage/events"
          search={problem.code === pending ? { status: 'pending' } : rejectedIn(run, problem)}
        >
          {quantityText(problem.events)}
          <span className="heard"> events</span>
        </Link>
      ),
  },
];

/** How far it is, said as it goes. */
const Progress = ({ of }: { readonly of: Run }): ReactNode => (
  <p role="status">
    {of.progress === null || of.progress.accountCount === '0'
      ? 'It runs.'
      : `${quantityText(of.progress.accountsDone)} of ${quantityText(of.progress.accountCount)} accounts, ${of.progress.invoices === '0' ? 'no invoice' : `${quantityText(of.progress.invoices)} invoices`} so far.`}
  </p>
);

/** What is owed all the same, and where more of it is said. */
const WhatWaits = ({ accountId }: { readonly accountId: string | null }): ReactNode =>
  accountId === null ? (
    <p>What corrections owe an account waits until something else is billed: its page says so.</p>
  ) : (
    <>
      <WaitingOf accountId={accountId} />
      <p>
        <Link to="/accounts/$accountId/next-invoice" params={{ accountId }}>
          Next invoice
        </Link>
      </p>
    </>
  );

/** What it has billed or would bill. */
function Billed({
  run,
  since,
}: {
  readonly run: Run;
  readonly since: string | undefined;
}): ReactNode {
  const { id, dryRun, invoiceCount } = run;
  if (invoiceCount === '0') {
    return (
      <Empty>
        <p>Nothing of this period is left to be billed.</p>
        {dryRun ? <WhatWaits accountId={run.accountId} /> : null}
      </Empty>
    );
  }
  return (
    <>
      {run.totals === null ? null : (
        <DataTable
          caption={dryRun ? 'What would be billed' : 'What was billed'}
          columns={totals}
          rows={run.totals}
          keyOf={({ invoiceType, currency }) => `${invoiceType} ${currency}`}
        />
      )}
      {dryRun ? (
        <>
          <DataTable
            caption="Invoices that would be made, beside those before"
            columns={drafts}
            rows={run.drafts}
            keyOf={({ accountId: of, invoiceType, currency }, index) =>
              `${of} ${invoiceType} ${currency} ${index}`
            }
          />
          <BillIt run={run} since={since} />
        </>
      ) : (
        <p>
          <Link to="/invoices" search={{ billingRunId: id }}>
            Invoices of this run
          </Link>
        </p>
      )}
    </>
  );
}

const WhatItIs = ({ run }: { readonly run: Run }): ReactNode => (
  <Facts
    of={[
      ['Status', <Status key="status" name={run.status} />],
      [
        'Of',
        run.accountId === null ? (
          'all accounts'
        ) : (
          <AccountName key="account" accountId={run.accountId} />
        ),
      ],
      ['Invoices', orNone(run.invoiceCount)],
      ['Dated', orNone(run.invoiceDate)],
      ['By', <ActorName key="by" actor={run.actor} />],
      ['Began', <Instant key="began" at={run.startedAt} />],
      ['Ended', <Instant key="ended" at={run.completedAt} />],
      [
        'Steps',
        <Link
          key="execution"
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: 'billing-run', executionId: run.id }}
        >
          its execution
        </Link>,
      ],
    ]}
  />
);

const route = getRouteApi('/billing/$billingRunId');

/** A billing run: what it billed, what it left out and why. */
export function RunPage(): ReactNode {
  const { billingRunId } = route.useParams();
  const { since } = route.useSearch();
  const query = useQuery(billingRun(billingRunId));
  const found = query.data;
  const title = found
    ? `${found.dryRun ? 'Dry run' : 'Run'} of ${found.periodStart} to ${found.periodEnd}`
    : 'Billing run';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="billing" to="/billing" search={{}}>
              Billing
            </Link>,
            title,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(run) => (
          <>
            <WhatItIs run={run} />
            {run.status === 'running' ? <Progress of={run} /> : null}
            {run.error === null ? null : (
              <div className="fault">
                <p>
                  <strong>It failed</strong>
                </p>
                <p>{run.error}</p>
              </div>
            )}
            {run.status === 'completed' && run.dryRun && since !== undefined ? (
              <Changed since={since} run={run} />
            ) : null}
            {run.status === 'completed' ? <Billed run={run} since={since} /> : null}
            {run.problems.length === 0 ? null : (
              <Section title="What was left out">
                <DataTable
                  caption="What was left out, and why"
                  isCaptionHeard
                  columns={leftOutOf(run)}
                  rows={run.problems}
                  keyOf={({ code, accountId, contractServiceId }, index) =>
                    `${code} ${accountId} ${contractServiceId} ${index}`
                  }
                />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
