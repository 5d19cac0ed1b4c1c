import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { useList } from '../api/use-list.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Charge } from '../receipts/explanation.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { Facts } from '../shown/values.tsx';
import { InvoiceNo } from './items.tsx';
import { checkText, isReduced } from './check-text.ts';
import { chargesSize, explainedItem } from './queries.ts';

type Explained = Schemas['InvoiceExplanation'];
type Item = Explained['items'][number];
type Used = Item['transactions'][number];
type Adjusted = Item['adjustments'][number];

const columns = (invoiceId: string, itemId: string, currency: string): readonly Column<Used>[] => [
  {
    name: 'Event',
    show: ({ usageEventId, externalTranId }) => (
      <Link
        to="/receipts/$eventId"
        params={{ eventId: usageEventId }}
        search={{ invoice: invoiceId, item: itemId }}
      >
        <bdi>{externalTranId}</bdi>
      </Link>
    ),
  },
  { name: 'Day', show: ({ transactionDate }) => transactionDate },
  { name: 'Volume', isNumber: true, show: ({ volume }) => quantityText(volume) },
  { name: 'Amount', isNumber: true, show: ({ amount }) => moneyText(amount, currency) },
];

/** What a maximum, minimum or commitment made of its period. */
function Adjustments({ of, currency }: { readonly of: readonly Adjusted[]; currency: string }) {
  const columnsOf: readonly Column<Adjusted>[] = [
    { name: 'Adjustment', show: ({ kind }) => kind },
    { name: 'Period', show: ({ periodStart, periodEnd }) => `${periodStart} to ${periodEnd}` },
    { name: 'Value', isNumber: true, show: ({ value }) => moneyText(value, currency) },
    { name: 'Spent', isNumber: true, show: ({ spent }) => moneyText(spent, currency) },
    { name: 'Adds', isNumber: true, show: ({ amount }) => moneyText(amount, currency) },
  ];
  return (
    <DataTable
      caption="What adjustments add to their periods, less what was billed of it before"
      columns={columnsOf}
      rows={of}
      keyOf={({ adjustmentId, periodStart }) => `${adjustmentId} ${periodStart}`}
    />
  );
}

/** Whether the parts come to the item, and where the rest is that discounts and grants take off it. */
const Checked = ({ item, currency }: { readonly item: Item; readonly currency: string }) => (
  <>
    <p className={item.matches ? 'good' : 'bad'}>{checkText(item, currency)}</p>
    {isReduced(item) ? (
      <p>
        That is the price. What discounts took of it, and what grants paid of it, are items of their
        own on this invoice.
      </p>
    ) : null}
  </>
);

const madeOf = ({ parts }: Item): [string, string][] =>
  parts === '0'
    ? []
    : [['Made of', `${quantityText(parts)} ${parts === '1' ? 'charge' : 'charges'}`]];

const taxName = ({ taxRate }: Item): string =>
  taxRate === null ? 'Tax' : `Tax of ${quantityText(taxRate)} %`;

const route = getRouteApi('/invoices/$invoiceId/items/$itemId');

interface OfItem {
  readonly explained: Explained;
  readonly item: Item;
  /** Reads another page of its usage. */
  readonly onAhead: (page: number) => void;
}

/** A page of its events. */
function Usage({ explained, item: { transactions, parts }, onAhead }: OfItem): ReactNode {
  const { invoiceId, itemId } = route.useParams();
  const { page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <DataTable
        caption="Usage; each event leads to its receipt"
        columns={columns(invoiceId, itemId, explained.currency)}
        rows={transactions}
        keyOf={({ id }) => id}
      />
      <Pager
        name="the usage"
        first={page * chargesSize}
        shown={transactions.length}
        total={parts}
        onMove={(by) => void navigate({ search: { page: page + by } })}
        onAhead={(by) => onAhead(page + by)}
      />
    </>
  );
}

function Parts(of: OfItem): ReactNode {
  const { explained, item } = of;
  const { currency } = explained;
  const { transactions, charges, adjustments } = item;
  const { creditedInvoiceId } = explained;
  if (item.creditedItemId !== null && creditedInvoiceId !== null) {
    return (
      <p>
        <Link
          to="/invoices/$invoiceId/items/$itemId"
          params={{ invoiceId: creditedInvoiceId, itemId: item.creditedItemId }}
          search={{}}
        >
          The item of <InvoiceNo id={creditedInvoiceId} />
        </Link>{' '}
        that it credits says what it is made of.
      </p>
    );
  }
  if (transactions.length + charges.length + adjustments.length === 0) {
    return (
      <Empty>
        <p>
          {item.parts === '0'
            ? 'The receipt of a charge, or the page of its item, says how much of it.'
            : 'There is nothing on this page.'}
        </p>
      </Empty>
    );
  }
  return (
    <>
      {transactions.length === 0 ? null : <Usage {...of} />}
      {adjustments.length === 0 ? null : <Adjustments of={adjustments} currency={currency} />}
      {charges.map(({ id, amount, periodStart, periodEnd, proration, explanation }) => (
        <Section
          key={id}
          title={`${moneyText(amount, currency)} for ${periodStart} to ${periodEnd}`}
        >
          {explanation === null ? (
            <p className="muted">What it was priced with is no longer kept.</p>
          ) : (
            <Charge explanation={explanation} days={proration?.text} />
          )}
        </Section>
      ))}
    </>
  );
}

/** What an item of an invoice is made of, down to each event. */
export function ItemPage(): ReactNode {
  const { invoiceId, itemId } = route.useParams();
  const { page = 0 } = route.useSearch();
  const { query, onAhead } = useList((to) => explainedItem(invoiceId, itemId, to), page);
  const item = query.data?.items[0];
  const title = item?.description ?? 'Item';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="invoices" to="/invoices" search={{}}>
              Invoices
            </Link>,
            <Link key="invoice" to="/invoices/$invoiceId" params={{ invoiceId }}>
              {query.data?.invoiceNo ?? 'Invoice'}
            </Link>,
            <bdi key="item">{title}</bdi>,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(explained) =>
          item === undefined ? (
            <Empty>
              <p>This invoice has no such item.</p>
            </Empty>
          ) : (
            <>
              <Facts
                of={[
                  ['Kind', item.chargeType],
                  ...madeOf(item),
                  [
                    'Amount',
                    <strong key="amount">{moneyText(item.amount, explained.currency)}</strong>,
                  ],
                  [taxName(item), moneyText(item.tax, explained.currency)],
                ]}
              />
              <Checked item={item} currency={explained.currency} />
              <Parts explained={explained} item={item} onAhead={onAhead} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
