import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Filters } from '../shown/filters.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName, ActorName, ServiceName } from '../shown/names.tsx';
import { Facts, None, Status } from '../shown/values.tsx';
import { PaidBars } from './paid-bars.tsx';
import { Promote } from './promote.tsx';
import { size, trial, trialAccounts, type Repricing } from './queries.ts';
import { percentOrNone, Spread } from './spread.tsx';

type Paying = Schemas['RepricedAccount'];
type Sum = Repricing['before'][number];
type Violation = NonNullable<Repricing['guard']>['violations'][number];

const accountsOf = (repricingId: string): readonly Column<Paying>[] => [
  {
    name: 'Account',
    show: ({ accountId, name }) => (
      <Link to="/accounts/$accountId" params={{ accountId }}>
        <bdi>{name ?? accountId}</bdi>
      </Link>
    ),
  },
  {
    name: 'Charges',
    isNumber: true,
    show: ({ accountId, name, charges }) => (
      <Link
        to="/prices/tried/$repricingId/accounts/$accountId"
        params={{ repricingId, accountId }}
        search={{}}
      >
        {quantityText(charges)} <span className="heard">charges of {name}, side by side</span>
      </Link>
    ),
  },
  { name: 'Pays', isNumber: true, show: ({ before, currency }) => moneyText(before, currency) },
  { name: 'Would pay', isNumber: true, show: ({ after, currency }) => moneyText(after, currency) },
  {
    name: 'Difference',
    isNumber: true,
    show: ({ difference, currency }) => moneyText(difference, currency),
  },
  { name: 'Change', isNumber: true, show: ({ change }) => percentOrNone(change) },
];

const limitTexts = {
  accountChangeMax: 'Change of an account',
  totalDecreaseMax: 'Decrease of the total',
} as const;

const withinSentence = (text: string, index: number): string =>
  index === 0 ? text : text.charAt(0).toLowerCase() + text.slice(1);

/** What the outcome had to keep, once it is known whether it does. */
function limitsText({ guard }: Repricing): string {
  if (guard === null) return 'not known yet';
  const given = Object.entries(limitTexts).flatMap(([name, text]) => {
    const max = guard[name as keyof typeof limitTexts];
    return max === null ? [] : [`${text} at most ${quantityText(max)} %`];
  });
  return given.length === 0
    ? 'none'
    : `${given.map(withinSentence).join(', ')}: ${guard.passed ? 'all kept' : 'not all kept'}`;
}

const violations: readonly Column<Violation>[] = [
  { name: 'Limit', show: ({ limit }) => limitTexts[limit as keyof typeof limitTexts] },
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
      {change === null ? null : <Spread of={change} />}
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
  const { query, onAhead } = useList((to) => trialAccounts(repricingId, order, to), page);
  return (
    <Section title="Accounts">
      <Filters
        label="Which accounts first"
        fields={[{ name: 'sort', label: 'Order', value: order, options: sorts }]}
        onApply={(texts) => void navigate({ search: texts })}
      />
      {query.data && query.data.data.length > 0 ? <PaidBars rows={query.data.data} /> : null}
      <Listed
        query={query}
        onAhead={onAhead}
        caption="What accounts would pay"
        name="accounts"
        columns={accountsOf(repricingId)}
        keyOf={({ accountId, currency }) => `${accountId} ${currency}`}
        page={page}
        size={size}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={<p>Nobody has used it in this time.</p>}
      />
    </Section>
  );
}

/** Whose usage alone all that is shown is of. */
const Services = ({ of }: { readonly of: Repricing['serviceIds'] }): ReactNode =>
  of === null
    ? 'all'
    : of.map((serviceId, index) => (
        <Fragment key={serviceId}>
          {index === 0 ? null : ', '}
          <ServiceName serviceId={serviceId} />
        </Fragment>
      ));

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
                ['Services', <Services key="services" of={found.serviceIds} />],
                ['On usage of', `${found.from.slice(0, 10)} to before ${found.to.slice(0, 10)}`],
                [
                  'Events',
                  found.events === null ? <None key="events" /> : quantityText(found.events),
                ],
                ['Limits', limitsText(found)],
                ['By', <ActorName key="by" actor={found.actor} />],
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
