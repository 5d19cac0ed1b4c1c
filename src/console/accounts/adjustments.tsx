import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import type { Column } from '../shown/data-table.tsx';
import { quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { ServiceName } from '../shown/names.tsx';
import { Money, orNone } from '../shown/values.tsx';
import { adjustmentsOf, pageSize, type Adjusted } from './queries.ts';
import { usePlace } from './use-place.ts';

type Adjustment = Schemas['Adjustment'];

const kinds: Readonly<Record<Adjustment['kind'], string>> = {
  discountPercent: 'Percent off',
  discountAmount: 'Amount off',
  minimum: 'Minimum',
  maximum: 'Maximum',
  commitment: 'Commitment',
};

const columns: readonly Column<Adjustment>[] = [
  { name: 'Adjustment', show: ({ kind }) => kinds[kind] },
  {
    name: 'Of',
    show: ({ serviceId }) =>
      serviceId === null ? 'all charges' : <ServiceName serviceId={serviceId} />,
  },
  { name: 'Period', show: ({ period }) => orNone(period) },
  { name: 'From', show: ({ from }) => from },
  { name: 'Before', show: ({ to }) => orNone(to) },
  {
    name: 'Value',
    isNumber: true,
    show: ({ kind, value, currency }) =>
      kind === 'discountPercent' ? (
        `${quantityText(value)} %`
      ) : (
        <Money amount={value} currency={currency} />
      ),
  },
];

/** What is agreed beside prices of an account, a contract or a line; nothing where nothing is. */
export function Adjustments({
  of,
  name,
}: {
  readonly of: Adjusted;
  readonly name: string;
}): ReactNode {
  const [page, setPage] = usePlace(`adjustments.${Object.values(of).join('.')}`);
  const { query, onAhead } = useList((to) => adjustmentsOf(of, to), page);
  return (
    <Listed
      query={query}
      onAhead={onAhead}
      caption={`Discounts, minimums, maximums and commitments of ${name}`}
      name={`the adjustments of ${name}`}
      columns={columns}
      keyOf={({ id }) => id}
      page={page}
      size={pageSize}
      empty={null}
      isOfMany
      onMove={setPage}
    />
  );
}
