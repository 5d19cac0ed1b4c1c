import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import type { Column } from '../shown/data-table.tsx';
import { Listed } from '../shown/listed.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { ServiceName } from '../shown/names.tsx';
import { Pager } from '../shown/pager.tsx';
import { orNone } from '../shown/values.tsx';
import { Adjustments } from './adjustments.tsx';
import { LinePrices } from './line-prices.tsx';
import { contractsOf, linesOf, pageSize } from './queries.ts';
import { usePlace } from './use-place.ts';

type Line = Schemas['ContractServiceHeader'];

const columns: readonly Column<Line>[] = [
  { name: 'Service', show: ({ serviceId }) => <ServiceName serviceId={serviceId} /> },
  { name: 'Instance', show: ({ serviceInstanceId }) => orNone(serviceInstanceId) },
  { name: 'From', show: ({ startDate }) => orNone(startDate) },
  { name: 'To', show: ({ endDate }) => orNone(endDate) },
  { name: 'Ended on', show: ({ terminationDate }) => orNone(terminationDate) },
  { name: 'Billed', show: ({ billingFrequency }) => orNone(billingFrequency) },
  { name: 'Prices', show: (line) => <LinePrices line={line} /> },
];

/** The lines of a contract with their prices, page by page. */
export function LinesOf({
  contractId,
  name,
}: {
  readonly contractId: string;
  readonly name: string;
}): ReactNode {
  const [page, setPage] = usePlace(`lines.${contractId}`);
  const { query, onAhead } = useList((to) => linesOf(contractId, to), page);
  return (
    <>
      <Listed
        query={query}
        onAhead={onAhead}
        caption={name}
        name={`the lines of ${name}`}
        columns={columns}
        keyOf={({ id }) => id}
        page={page}
        size={pageSize}
        empty={<p>{name} has no lines.</p>}
        isOfMany
        onMove={setPage}
      />
      <Adjustments of={{ contractId }} name={name} />
    </>
  );
}

const daysOf = (from: string | null, to: string | null): string | undefined =>
  from === null
    ? (to ?? undefined) && `to ${to}`
    : to === null
      ? `from ${from} on`
      : `${from} to ${to}`;

/** What an account has agreed to. */
export function ContractLines({ accountId }: { readonly accountId: string }): ReactNode {
  const [page, setPage] = usePlace('contracts');
  const { query, onAhead } = useList((to) => contractsOf(accountId, to), page);
  return (
    <Loaded query={query}>
      {({ content, totalElements }) =>
        content.length === 0 ? (
          <Empty>
            <p>
              There is no contract with this account: its usage is priced by the cards of the
              catalog.
            </p>
          </Empty>
        ) : (
          <>
            {content.map(({ Id, Number: number, Name, StartDate, EndDate }) => (
              <LinesOf
                key={Id}
                contractId={Id}
                name={`Contract ${[number, Name, daysOf(StartDate, EndDate)].filter(Boolean).join(', ')}`}
              />
            ))}
            <Pager
              name="contracts"
              first={page * pageSize}
              shown={content.length}
              total={totalElements}
              isOfMany
              onMove={(by) => setPage(page + by)}
              onAhead={(by) => onAhead(page + by)}
            />
          </>
        )
      }
    </Loaded>
  );
}
