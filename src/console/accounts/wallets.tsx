import { useQuery, useQueryClient, type Query } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import { moneyText } from '../shown/format.ts';
import type { Column } from '../shown/data-table.tsx';
import { Listed } from '../shown/listed.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { Facts, Instant, Money, Status } from '../shown/values.tsx';
import { Entries } from './entries.tsx';
import { balanceOf, grantsOf, holdsOf, pageSize, walletsOf } from './queries.ts';
import { usePlace } from './use-place.ts';

type Grant = Schemas['WalletGrant'];

const columns: readonly Column<Grant>[] = [
  { name: 'Grant', show: ({ externalId }) => externalId },
  { name: 'Kind', show: ({ kind }) => kind },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  {
    name: 'Amount',
    isNumber: true,
    show: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
  {
    name: 'Held',
    isNumber: true,
    show: ({ held, currency }) => <Money amount={held} currency={currency} />,
  },
  {
    name: 'Left',
    isNumber: true,
    show: ({ remaining, currency }) => <Money amount={remaining} currency={currency} />,
  },
  { name: 'Ends', show: ({ expiresAt }) => <Instant at={expiresAt} /> },
];

function Grants({ walletId, title }: { readonly walletId: string; title: string }): ReactNode {
  const [page, setPage] = usePlace(`grants.${walletId}`);
  const { query, onAhead } = useList((to) => grantsOf(walletId, to), page);
  return (
    <Listed
      query={query}
      onAhead={onAhead}
      caption={`Grants of ${title}`}
      name={`the grants of ${title}`}
      columns={columns}
      keyOf={({ id }) => id}
      page={page}
      size={pageSize}
      empty={<p>Nothing was granted to {title} yet.</p>}
      isOfMany
      onMove={setPage}
    />
  );
}

/** What is there in a currency, what of it is held, and what was spent. */
function Balance({ accountId, currency }: { readonly accountId: string; currency: string }) {
  const query = useQuery(balanceOf(accountId, currency));
  return (
    <Loaded query={query}>
      {({ balance, held, available, spent }) => (
        <Facts
          of={[
            ['Balance', moneyText(balance, currency)],
            ['Held', moneyText(held, currency)],
            ['Available', moneyText(available, currency)],
            [`Spent in ${spent.period}`, moneyText(spent.amount, currency)],
          ]}
        />
      )}
    </Loaded>
  );
}

const heldColumns: readonly Column<Schemas['RunningHold']>[] = [
  { name: 'Hold', show: ({ key }) => <bdi>{key}</bdi> },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  {
    name: 'Amount',
    isNumber: true,
    show: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
  { name: 'Made', show: ({ createdAt }) => <Instant at={createdAt} /> },
  { name: 'Ends', show: ({ expiresAt }) => <Instant at={expiresAt} /> },
];

const isOfBalance = ({ queryKey }: Query): boolean =>
  queryKey[0] === 'balance' || queryKey[0] === 'grants';

/** What of it is promised to usage that is still to come. */
function Holds({ accountId }: { readonly accountId: string }): ReactNode {
  const [page, setPage] = usePlace('holds');
  const { query, onAhead } = useList((to) => holdsOf(accountId, to), page);
  const client = useQueryClient();
  const held = query.data?.data.map(({ id, status }) => `${id} ${status}`).join();
  const shown = useRef(held);
  useEffect(() => {
    const isOther = shown.current !== undefined && shown.current !== held;
    shown.current = held;
    // What ended goes back to its grants.
    if (isOther) void client.invalidateQueries({ predicate: isOfBalance });
  }, [held, client]);
  return (
    <Listed
      query={query}
      onAhead={onAhead}
      caption="What is held"
      name="holds"
      columns={heldColumns}
      keyOf={({ id }) => id}
      page={page}
      size={pageSize}
      empty={<p>Nothing of it is held.</p>}
      isOfMany
      onMove={setPage}
    />
  );
}

/** Money that an account has paid ahead, or was given. */
export function Wallets({ accountId }: { readonly accountId: string }): ReactNode {
  const [page, setPage] = usePlace('wallets');
  const { query, onAhead } = useList((to) => walletsOf(accountId, to), page);
  return (
    <Loaded query={query}>
      {({ content, totalElements }) =>
        content.length === 0 ? (
          <Empty>
            <p>This account has no wallet: it pays its invoices.</p>
          </Empty>
        ) : (
          <>
            {[...new Set(content.flatMap(({ Currency__r: of }) => of?.Name ?? []))].map(
              (currency) => (
                <Balance key={currency} accountId={accountId} currency={currency} />
              ),
            )}
            <Holds accountId={accountId} />
            {content.map(({ Id, Title, Currency__r: currency }) => (
              <div key={Id}>
                <Grants walletId={Id} title={Title ?? 'the wallet'} />
                <Entries
                  walletId={Id}
                  title={Title ?? 'the wallet'}
                  currency={currency?.Name ?? null}
                />
              </div>
            ))}
            <Pager
              name="wallets"
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
