import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Field } from '../shown/field.tsx';
import { Filters } from '../shown/filters.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName } from '../shown/names.tsx';
import { Facts, None, orNone, Status } from '../shown/values.tsx';
import { promote, size, trial, trialAccounts, type Repricing } from './queries.ts';

type Paying = Schemas['RepricedAccount'];
type Sum = Repricing['before'][number];
type Violation = NonNullable<Repricing['guard']>['violations'][number];

const percentOrNone = (percent: string | null): ReactNode =>
  percent === null ? <None /> : `${quantityText(percent)} %`;

const accounts: readonly Column<Paying>[] = [
  { name: 'Account', show: ({ accountId }) => <AccountName accountId={accountId} /> },
  { name: 'Charges', isNumber: true, show: ({ charges }) => quantityText(charges) },
  { name: 'Pays', isNumber: true, show: ({ before, currency }) => moneyText(before, currency) },
  { name: 'Would pay', isNumber: true, show: ({ after, currency }) => moneyText(after, currency) },
  {
    name: 'Difference',
    isNumber: true,
    show: ({ difference, currency }) => moneyText(difference, currency),
  },
  { name: 'Change', isNumber: true, show: ({ change }) => percentOrNone(change) },
];

const violations: readonly Column<Violation>[] = [
  { name: 'Limit', show: ({ limit }) => limit },
  {
    name: 'Account',
    show: ({ accountId }) => (accountId === null ? 'all' : <AccountName accountId={accountId} />),
  },
  { name: 'At most', isNumber: true, show: ({ max }) => `${quantityText(max)} %` },
  { name: 'Change', isNumber: true, show: ({ change }) => percentOrNone(change) },
];

/** What all of it costs, before and after. */
function Sums({ of }: { readonly of: Repricing }): ReactNode {
  const columns: readonly Column<Sum>[] = [
    { name: 'Currency', show: ({ currency }) => currency },
    {
      name: 'In the books',
      isNumber: true,
      show: ({ amount, currency }) => moneyText(amount, currency),
    },
    {
      name: 'It would be',
      isNumber: true,
      show: ({ currency }) => {
        const after = of.after.find((sum) => sum.currency === currency);
        return after === undefined ? <None /> : moneyText(after.amount, currency);
      },
    },
  ];
  const { change } = of;
  if (of.before.length === 0) {
    return (
      <Empty>
        <p>Nothing was used in this time, so that it tells nothing of these prices.</p>
      </Empty>
    );
  }
  return (
    <>
      <DataTable
        caption="What the usage costs"
        columns={columns}
        rows={of.before}
        keyOf={({ currency }) => currency}
      />
      {change === null ? null : (
        <Facts
          of={[
            ['Smallest change of an account', percentOrNone(change.min)],
            ['5th percentile', percentOrNone(change.p5)],
            ['Median', percentOrNone(change.p50)],
            ['95th percentile', percentOrNone(change.p95)],
            ['Largest', percentOrNone(change.max)],
          ]}
        />
      )}
    </>
  );
}

const sorts = [
  ['change:desc', 'Who would pay more first'],
  ['change:asc', 'Who would pay less first'],
] as const;

const route = getRouteApi('/prices/tried/$repricingId');

/** Who would pay more, and who less. */
function Accounts({ repricingId }: { readonly repricingId: string }): ReactNode {
  const { sort, page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const order = sort === 'change:asc' ? 'change:asc' : 'change:desc';
  const query = useQuery(trialAccounts(repricingId, order, page));
  return (
    <Section title="Accounts">
      <Filters
        label="Which accounts first"
        fields={[{ name: 'sort', label: 'Order', value: order, options: sorts }]}
        onApply={(texts) => void navigate({ search: texts })}
      />
      <Listed
        query={query}
        caption="What accounts would pay"
        name="accounts"
        columns={accounts}
        keyOf={({ accountId, currency }) => `${accountId} ${currency}`}
        page={page}
        size={size}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={<p>Nobody has used it in this time.</p>}
      />
    </Section>
  );
}

/** Puts it in force from a day on. */
function Promote({ of }: { readonly of: Repricing }): ReactNode {
  const [fromDate, setFromDate] = useState('');
  if (of.promotedFrom !== null) {
    return (
      <p className="good">
        In force from {of.promotedFrom}, by <bdi>{of.promotedBy}</bdi>.
      </p>
    );
  }
  return (
    <Section title="Put it in force">
      <p>
        A version of the card is made that begins on this day. Nothing is rated again by itself.
      </p>
      <div className="fields">
        <Field label="From" type="date" value={fromDate} onChange={setFromDate} />
      </div>
      <Action
        name="Put it in force"
        isPrimary
        isDisabled={fromDate === ''}
        onDo={() => promote(of.id, fromDate)}
      />
    </Section>
  );
}

/** How a try that has ended came out. */
const Outcome = ({ of }: { readonly of: Repricing }): ReactNode => (
  <>
    <Sums of={of} />
    {of.guard === null || of.guard.passed ? null : (
      <DataTable
        caption="Limits that are not kept"
        columns={violations}
        rows={of.guard.violations}
        keyOf={({ limit, accountId, currency }) => `${limit} ${accountId} ${currency}`}
      />
    )}
    <Promote of={of} />
    <Accounts repricingId={of.id} />
  </>
);

/** What other prices would have made of what was used. */
export function TrialPage(): ReactNode {
  const { repricingId } = route.useParams();
  const query = useQuery(trial(repricingId));
  const title = query.data?.name ?? 'Prices that were tried';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="prices" to="/prices" search={{}}>
              Prices
            </Link>,
            <bdi key="trial">{title}</bdi>,
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
                ['On usage of', `${found.from.slice(0, 10)} to before ${found.to.slice(0, 10)}`],
                ['Events', orNone(found.events)],
                ['By', orNone(found.actor)],
              ]}
            />
            {found.status === 'running' ? (
              <p role="status">
                {found.eventsTotal === '0'
                  ? 'It runs.'
                  : `${quantityText(found.eventsDone)} of about ${quantityText(found.eventsTotal)} events so far.`}
              </p>
            ) : null}
            {found.status === 'completed' ? <Outcome of={found} /> : null}
          </>
        )}
      </Loaded>
    </Page>
  );
}
