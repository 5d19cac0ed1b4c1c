import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { AccountName } from '../shown/names.tsx';
import { Instant, None } from '../shown/values.tsx';
import { changedDrafts, changedTotals, type Pair } from './changes.ts';
import { NotOver } from './not-over.tsx';
import { billAsShown, billingRun, startRun, wantedOf, type Looked, type Run } from './queries.ts';

type TotalPair = ReturnType<typeof changedTotals>[number];
type DraftPair = ReturnType<typeof changedDrafts>[number];

interface Sum {
  readonly amount: string;
  readonly currency: string;
}

const moneyOf = (of: Sum | undefined): ReactNode =>
  of === undefined ? <None /> : moneyText(of.amount, of.currency);

const amounts: readonly Column<Pair<Sum>>[] = [
  { name: 'Then', isNumber: true, show: ({ before }) => moneyOf(before) },
  { name: 'Now', isNumber: true, show: ({ now }) => moneyOf(now) },
];

const totals: readonly Column<TotalPair>[] = [
  { name: 'Of', show: ({ key }) => key },
  {
    name: 'Invoices then',
    isNumber: true,
    show: ({ before }) => quantityText(before?.count ?? '0'),
  },
  { name: 'Invoices now', isNumber: true, show: ({ now }) => quantityText(now?.count ?? '0') },
  ...amounts,
];

const drafts: readonly Column<DraftPair>[] = [
  {
    name: 'Account',
    show: ({ before, now }) => {
      const of = now ?? before;
      return of ? <AccountName accountId={of.accountId} name={of.accountName} /> : <None />;
    },
  },
  { name: 'Kind', show: ({ before, now }) => (now ?? before)?.invoiceType },
  ...amounts,
];

/** What differs between the dry run that was to be billed and this one, which was made at that press. */
export function Changed({ since, run }: { readonly since: string; readonly run: Run }): ReactNode {
  const query = useQuery(billingRun(since));
  return (
    <Loaded query={query}>
      {(before) => {
        const changed = changedDrafts(before, run);
        return (
          <>
            <p role="status" className="open">
              Nothing was billed. Since the dry run of <Instant at={before.completedAt} /> what
              would be billed has changed: this is how it is now.
            </p>
            <DataTable
              caption="What has changed since"
              columns={totals}
              rows={changedTotals(before, run)}
              keyOf={({ key }) => key}
            />
            {changed.length === 0 ? null : (
              <DataTable
                caption="Invoices that have changed, without tax"
                columns={drafts}
                rows={changed}
                keyOf={({ key }) => key}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** That it is billed, and how what is left would be. */
const Billed = ({ of, by }: { readonly of: Run; readonly by: string }): ReactNode => {
  const { periodStart: from, periodEnd: to, accountId } = wantedOf(of);
  return (
    <p role="status" className="good">
      This was billed since by{' '}
      <Link to="/billing/$billingRunId" params={{ billingRunId: by }}>
        a run of {from} to {to}
      </Link>
      . What may be left of it{' '}
      <Link to="/billing" search={{ from, to, ...(accountId ? { accountId } : {}) }}>
        a new dry run
      </Link>{' '}
      shows.
    </p>
  );
};

/** What was shown, and the button that bills it. */
export function BillIt({
  run,
  since,
}: {
  readonly run: Run;
  /** The dry run before, where what would be billed has changed since. */
  readonly since: string | undefined;
}): ReactNode {
  const navigate = useNavigate();
  if (run.billedBy !== null) return <Billed of={run} by={run.billedBy} />;
  const onDone = ({ runId, isBilled }: Looked) =>
    void navigate({
      to: '/billing/$billingRunId',
      params: { billingRunId: runId },
      search: isBilled ? {} : { since: run.id },
    });
  return (
    <>
      <NotOver periodEnd={run.periodEnd} />
      <p>
        This was shown at <Instant at={run.completedAt} />. Before it is billed, another dry run
        looks whether it is still the same; if not, nothing is billed, and what has changed is
        shown.
      </p>
      <Action
        operation="executeWorkflow"
        name="Bill it"
        isPrimary
        onDo={() => billAsShown(run)}
        onDone={onDone}
      />
      {since === undefined ? null : (
        <Action
          operation="executeWorkflow"
          name="Bill it, whatever has changed"
          onDo={async () => ({
            runId: (await startRun(wantedOf(run), false)).executionId,
            isBilled: true,
          })}
          onDone={onDone}
        />
      )}
    </>
  );
}
