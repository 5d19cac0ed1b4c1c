import { useQuery, type QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readAhead } from '../api/query-client.ts';
import { Page, Section } from '../frame/page.tsx';
import { Download } from '../shown/download.tsx';
import { Filters, type FilterField } from '../shown/filters.tsx';
import { AccountName } from '../shown/names.tsx';
import { instantIn, serviceField, timeField } from './fields.ts';
import { Outcomes } from './outcomes.tsx';
import { rangeOf, serviceChoice, usageSummary, usageTotals, type UsageSearch } from './queries.ts';
import { Totals } from './totals.tsx';
import { bucketOf, lastHoursOf, type Bucket } from './zoom.ts';

const groupNames = [
  ['', 'Nothing'],
  ['account', 'Account'],
  ['service', 'Service'],
  ['attribute', 'Attribute'],
  ['usageType', 'Charge or payout'],
] as const;

const bucketNames: readonly (readonly [Bucket, string])[] = [
  ['minute', 'Minute'],
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
  ['month', 'Month'],
  ['none', 'Nothing'],
];

const route = getRouteApi('/usage');

/** What was chosen, as it goes into the address; where minutes are, of a time that has some. */
function applied(chosen: UsageSearch, wasByMinute: boolean): UsageSearch {
  const { from, to } = rangeOf(chosen);
  const range = { from: instantIn(from), to: instantIn(to) };
  const isByMinute = bucketOf(chosen) === 'minute' && !wasByMinute;
  return { ...chosen, ...(isByMinute ? lastHoursOf(range) : range) };
}

/** What it reads first. */
export function ahead(client: QueryClient, search: UsageSearch): void {
  void readAhead(client, usageTotals(search));
  void readAhead(client, usageSummary);
}

/** What was used and what it costs, by time and by what it is of. */
export function UsagePage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { from, to } = rangeOf(search);
  const services = useQuery(serviceChoice);
  const isByMinute = bucketOf(search) === 'minute';
  const fields: FilterField[] = [
    timeField('from', 'From', from, isByMinute || undefined),
    timeField('to', 'Before', to, isByMinute || undefined),
    { name: 'bucket', label: 'By', value: bucketOf(search), options: bucketNames },
    { name: 'groupBy', label: 'Group by', value: search.groupBy ?? '', options: groupNames },
    { name: 'dimension', label: 'Or by dimension', value: search.dimension ?? '', hint: 'Name' },
    serviceField('service', search.service ?? '', services.data),
  ];
  // What the form does not have.
  const kept = {
    ...(search.account ? { account: search.account } : {}),
    ...(search.show ? { show: search.show } : {}),
  };
  const file = new URLSearchParams({
    format: 'csv',
    from,
    to,
    ...(search.account ? { accountId: search.account } : {}),
  });
  return (
    <Page title="Usage">
      <Outcomes />
      <p>
        <Link to="/usage/events" search={{}}>
          Find an event
        </Link>{' '}
        ·{' '}
        <Link to="/usage/corrections" search={{}}>
          Corrections
        </Link>
      </p>
      <Section title="Totals">
        <Filters
          label="Which usage"
          fields={fields}
          onApply={(texts) => void navigate({ search: { ...applied(texts, isByMinute), ...kept } })}
        />
        {search.account === undefined ? null : (
          <p>
            Of <AccountName accountId={search.account} /> alone.{' '}
            <Link to="/usage" search={({ account: _account, ...others }) => others}>
              Show that of all accounts
            </Link>
          </p>
        )}
        <Totals search={search} />
        <Download
          path={`/v1/exports/rated-transactions?${file.toString()}`}
          name={`charges-${from}-${to}.csv`.replaceAll(':', '')}
        >
          Export the charges as CSV
        </Download>
      </Section>
    </Page>
  );
}
