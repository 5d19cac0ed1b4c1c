import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import type { Column } from '../shown/data-table.tsx';
import { quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { Instant, Money, None } from '../shown/values.tsx';
import { entriesOf, entriesSize } from './queries.ts';
import { usePlace } from './use-place.ts';

type Entry = Schemas['WalletEntry'];

const columnsIn = (currency: string | null): readonly Column<Entry>[] => [
  { name: 'Entry', show: ({ number }) => quantityText(number) },
  { name: 'Kind', show: ({ kind }) => kind },
  { name: 'Grant', show: ({ externalId }) => <bdi>{externalId}</bdi> },
  {
    name: 'For',
    show: ({ usageEventId }) =>
      usageEventId === null ? (
        <None />
      ) : (
        <Link to="/receipts/$eventId" params={{ eventId: usageEventId }} search={{}}>
          Receipt
        </Link>
      ),
  },
  {
    name: 'Amount',
    isNumber: true,
    show: ({ amount }) => <Money amount={amount} currency={currency} />,
  },
  {
    name: 'Held',
    isNumber: true,
    show: ({ held }) => (held === null ? <None /> : <Money amount={held} currency={currency} />),
  },
  {
    name: 'Balance',
    isNumber: true,
    show: ({ balanceAfter }) => <Money amount={balanceAfter} currency={currency} />,
  },
  { name: 'At', show: ({ createdAt }) => <Instant at={createdAt} /> },
];

/** The ledger of a wallet: what came in, what it paid, what was held. */
export function Entries({
  walletId,
  title,
  currency,
}: {
  readonly walletId: string;
  /** Null: it counts something else. */
  readonly currency: string | null;
  readonly title: string;
}): ReactNode {
  const [page, setPage] = usePlace(`entries.${walletId}`);
  const { query, onAhead } = useList((to) => entriesOf(walletId, to), page);
  return (
    <Listed
      query={query}
      onAhead={onAhead}
      caption={`Entries of ${title}`}
      name={`the entries of ${title}`}
      columns={columnsIn(currency)}
      keyOf={({ id }) => id}
      page={page}
      size={entriesSize}
      isOfMany
      onMove={setPage}
      empty={null}
    />
  );
}
