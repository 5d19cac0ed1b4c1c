import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Page, Section, Trail } from '../frame/page.tsx';
import { instantText, moneyText } from '../shown/format.ts';
import { Json } from '../shown/json.tsx';
import { Empty, Fault, Loaded } from '../shown/loaded.tsx';
import { AccountName } from '../shown/names.tsx';
import { Press } from '../shown/press.tsx';
import { Code, Facts, Instant, orNone, Status } from '../shown/values.tsx';
import { Billing } from './billing.tsx';
import { Charge } from './explanation.tsx';
import { Mend } from './cancel-and-amend.tsx';
import { usageEvent, type Event } from './queries.ts';

const route = getRouteApi('/receipts/$eventId');

type Billed = NonNullable<Event['ratedTransactions'][number]['invoice']>;

const placeOf = ({ id, items: [item] }: Billed) => ({ invoice: id, item: item?.id });

/** The way down: from the invoice where somebody came from, else from the first that bills it. */
function Way({ event }: { readonly event: Event | undefined }): ReactNode {
  const from = route.useSearch();
  const [billed] = (event?.ratedTransactions ?? []).flatMap(
    ({ invoice: of, billedBefore }) => of ?? billedBefore ?? [],
  );
  const { invoice, item } = from.invoice === undefined && billed ? placeOf(billed) : from;
  const last = <bdi key="event">{event?.externalTransactionId ?? 'Receipt'}</bdi>;
  if (invoice === undefined) {
    return (
      <Trail>
        {[
          <Link key="usage" to="/usage" search={{}}>
            Usage
          </Link>,
          <Link key="events" to="/usage/events" search={{}}>
            Events
          </Link>,
          last,
        ]}
      </Trail>
    );
  }
  return (
    <Trail>
      {[
        <Link key="invoices" to="/invoices" search={{}}>
          Invoices
        </Link>,
        <Link key="invoice" to="/invoices/$invoiceId" params={{ invoiceId: invoice }}>
          Invoice
        </Link>,
        item === undefined ? (
          'Item'
        ) : (
          <Link
            key="item"
            to="/invoices/$invoiceId/items/$itemId"
            params={{ invoiceId: invoice, itemId: item }}
          >
            Item
          </Link>
        ),
        last,
      ]}
    </Trail>
  );
}

/** Asks the server to price the event once more, and says whether the same came out. */
function ComputeAgain({ eventId }: { readonly eventId: string }): ReactNode {
  const { refetch, isFetching, error } = useQuery(usageEvent(eventId));
  const [told, setTold] = useState('');
  const compute = async (): Promise<void> => {
    const { data } = await refetch();
    if (!data) return;
    const isSame = data.ratedTransactions.every(({ matches }) => matches !== false);
    const at = instantText(new Date().toISOString());
    setTold(
      isSame
        ? `Computed again at ${at}: the same, to the last digit.`
        : `Computed again at ${at}: something else came out. Run audit-usage.`,
    );
  };
  return (
    <div className="again">
      <Press isHeld={isFetching} onPress={() => void compute()}>
        Compute again
      </Press>
      <p role="status" className={told.includes('same') ? 'good' : 'bad'}>
        {told}
      </p>
      {error ? <Fault error={error} /> : null}
    </div>
  );
}

/** Why there is no charge. */
function withoutChargeText({ status, reason }: Event): string {
  if (status === 'duplicate') {
    return 'It has the id of another event, which counts in its place: that one is charged.';
  }
  return `This event has no charge${reason === null ? '.' : `: ${reason}`}`;
}

/** The event that has the same id of its sender, and counts. */
const Original = ({ of: { originalId } }: { readonly of: Event }): ReactNode =>
  originalId === null ? null : (
    <p>
      <Link to="/receipts/$eventId" params={{ eventId: originalId }} search={{}}>
        The event that counts
      </Link>
    </p>
  );

function Charges({ event }: { readonly event: Event }): ReactNode {
  const { ratedTransactions } = event;
  if (ratedTransactions.length === 0) {
    return (
      <Empty>
        <p>{withoutChargeText(event)}</p>
        {event.status === 'canceled' ? (
          <p>
            Where it had one, its corrections say what of it was billed, and what is taken back.
          </p>
        ) : null}
        <Original of={event} />
      </Empty>
    );
  }
  return ratedTransactions.map((charge) => {
    const { id, amount, currency, usageType, explanation } = charge;
    return (
      <Section key={id} title={`${usageType} of ${moneyText(amount, currency)}`}>
        <Billing of={charge} eventId={event.id} />
        {explanation === null ? (
          <p className="muted">What it was priced with is no longer kept.</p>
        ) : (
          <Charge explanation={explanation} />
        )}
      </Section>
    );
  });
}

/** The account by its name; where there is none, as the event calls it. */
const Whose = ({
  event: { accountId, billingAccountRef },
}: {
  readonly event: Event;
}): ReactNode =>
  accountId === null ? (
    <bdi>{orNone(billingAccountRef)}</bdi>
  ) : (
    <AccountName accountId={accountId} />
  );

/** Why an event costs what it costs. */
export function ReceiptPage(): ReactNode {
  const { eventId } = route.useParams();
  const query = useQuery(usageEvent(eventId));
  const name = query.data?.externalTransactionId;
  return (
    <Page title={name ? `Receipt of ${name}` : 'Receipt'} above={<Way event={query.data} />}>
      <Loaded query={query}>
        {(event) => (
          <>
            {event.ratedTransactions.length === 0 ? null : (
              // Of other charges, what was said before is not true.
              <ComputeAgain
                key={event.ratedTransactions.map(({ id }) => id).join(' ')}
                eventId={eventId}
              />
            )}
            <Charges event={event} />
            <Mend event={event} />
            {event.id === null ? null : (
              <p>
                <Link to="/usage/corrections" search={{ eventId: event.id }}>
                  Corrections of this event
                </Link>
              </p>
            )}
            <Section title="The event">
              <Facts
                of={[
                  ['Status', <Status key="status" name={event.status} />],
                  ...(event.code === null
                    ? []
                    : [['Code', <Code key="code" of={event.code} />] as const]),
                  ['Account', <Whose key="account" event={event} />],
                  ['Happened', <Instant key="happened" at={event.eventTimestamp} />],
                  ['Received', <Instant key="received" at={event.receivedAt} />],
                  [
                    event.status === 'rated' ? 'Rated' : 'Processed',
                    <Instant key="processed" at={event.processedAt} />,
                  ],
                ]}
              />
              {event.message === null || event.message === undefined ? (
                <p className="muted">{orNone(event.messageNote)}</p>
              ) : (
                <Json of={event.message} />
              )}
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
