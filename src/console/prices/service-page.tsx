import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { service } from '../accounts/queries.ts';
import type { Schemas } from '../api/client.ts';
import type { ExactJson } from '../api/exact-json.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Field } from '../shown/field.tsx';
import { quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { None } from '../shown/values.tsx';
import { cardsOf, exactRows, tryPrices, versionsOf } from './queries.ts';
import { priceText } from './price-text.ts';
import { areRates, Rows } from './rows.tsx';
import { LogicSteps, TryValues } from './try-values.tsx';

type Version = Schemas['RateCard'];

const columns: readonly Column<Version>[] = [
  { name: 'Version', show: ({ versionNo }) => quantityText(versionNo) },
  { name: 'From', show: ({ fromDate }) => fromDate },
  { name: 'To', show: ({ toDate }) => toDate ?? <None /> },
  { name: 'In force', show: ({ isCurrent }) => (isCurrent ? 'today' : <None />) },
  {
    name: 'Prices',
    show: ({ rows, currency }) => (
      <ul className="lines">
        {rows.map((row) => (
          <li key={row.id}>
            <bdi>{row.label}</bdi>: {priceText(row, currency)}
          </li>
        ))}
      </ul>
    ),
  },
];

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The month before this one, up to its end. */
function lastMonth(): { readonly from: string; readonly to: string } {
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { from: dayOf(Date.UTC(year, month - 1, 1)), to: dayOf(Date.UTC(year, month, 1)) };
}

const route = getRouteApi('/prices/$serviceId');

/** Other numbers in a card, and what they would have made of what was used. */
function Try({ currency, inForce }: { readonly currency: string; inForce: readonly ExactJson[] }) {
  const { serviceId } = route.useParams();
  const navigate = route.useNavigate();
  const [rows, setRows] = useState(inForce);
  const [name, setName] = useState(`Other prices in ${currency}`);
  const [{ from, to }, setTime] = useState(lastMonth);
  return (
    <Section title={`Try other prices in ${currency}`}>
      <p>What was used is rated again, beside the books. Nothing is changed by it.</p>
      <Rows rows={rows} onChange={setRows} />
      <div className="fields">
        <Field label="Name of this try" value={name} onChange={setName} />
        <Field
          label="Usage from"
          type="date"
          value={from}
          onChange={(day) => setTime({ from: day, to })}
        />
        <Field
          label="Before"
          type="date"
          value={to}
          onChange={(day) => setTime({ from, to: day })}
        />
      </div>
      <Action
        name="Run over this time"
        isPrimary
        isDisabled={!areRates(rows)}
        onDo={() => tryPrices({ name, from, to, serviceId, currency, rows })}
        onDone={({ executionId }) =>
          void navigate({
            to: '/prices/tried/$repricingId',
            params: { repricingId: executionId },
            search: {},
          })
        }
      />
    </Section>
  );
}

/** The versions of a card, and the form to try another. */
function Card({ currency }: { readonly currency: string }): ReactNode {
  const { serviceId } = route.useParams();
  const versions = useQuery(versionsOf(serviceId, currency));
  const rows = useQuery(exactRows(serviceId, currency));
  return (
    <>
      <Section title={`Prices in ${currency}`}>
        <Loaded query={versions}>
          {({ content }) => (
            <DataTable
              caption={`Versions in ${currency}, the newest first`}
              columns={columns}
              rows={content}
              keyOf={({ versionNo }) => versionNo}
            />
          )}
        </Loaded>
      </Section>
      <Loaded query={rows}>{(found) => <Try currency={currency} inForce={found} />}</Loaded>
    </>
  );
}

/** What a service costs, since when, and what other prices would do. */
export function ServicePage(): ReactNode {
  const { serviceId } = route.useParams();
  const found = useQuery(service(serviceId));
  const cards = useQuery(cardsOf(serviceId));
  const title = found.data?.name ?? 'Service';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="prices" to="/prices" search={{}}>
              Prices
            </Link>,
            <bdi key="service">{title}</bdi>,
          ]}
        </Trail>
      }
    >
      <Loaded query={cards}>
        {({ content }) =>
          content.length === 0 ? (
            <Empty>
              <p>It has no rate card: only contract lines with prices of their own use it.</p>
            </Empty>
          ) : (
            content.map(({ currency }) => <Card key={currency} currency={currency} />)
          )
        }
      </Loaded>
      {found.data === undefined ? null : (
        <>
          <LogicSteps of={found.data.pricingLogic} />
          <TryValues key={serviceId} of={found.data} />
        </>
      )}
    </Page>
  );
}
