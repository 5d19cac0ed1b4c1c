import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useList } from '../api/use-list.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Filters } from '../shown/filters.tsx';
import { instantText, quantityText } from '../shown/format.ts';
import { Listed } from '../shown/listed.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { Facts, Instant, orNone, Status } from '../shown/values.tsx';
import { About } from './about.tsx';
import {
  deliveryList,
  recover,
  redeliver,
  sendTest,
  size,
  switchOn,
  webhook,
  type Delivery,
  type Webhook,
} from './queries.ts';
import { stateOf } from './webhooks-page.tsx';

type Attempt = Delivery['attempts'][number];

/** What the receiver answered, or why nothing came. */
const outcomeOf = ({ statusCode, error }: Attempt): string =>
  error ?? (statusCode === null ? 'no answer' : `answered with ${statusCode}`);

/** Every attempt, with what came back. */
const Attempts = ({ of }: { readonly of: Delivery }): ReactNode => {
  const last = of.attempts.at(-1);
  if (last === undefined) return 'none yet';
  return (
    <details>
      <summary>
        {quantityText(String(of.attempts.length))}, the last: {outcomeOf(last)}
      </summary>
      <ol>
        {of.attempts.map((attempt) => (
          <li key={attempt.startedAt}>
            {instantText(attempt.startedAt)}: {outcomeOf(attempt)}
            {attempt.answer ? (
              <>
                {' '}
                <code>{attempt.answer}</code>
              </>
            ) : null}
          </li>
        ))}
      </ol>
    </details>
  );
};

/** What is sent this moment, or next, is not sent sooner by asking. */
const isSendable = (status: Delivery['status']): boolean =>
  status !== 'pending' && status !== 'sending';

const columnsOf = (
  webhookId: string,
  onTold: (text: string) => void,
): readonly Column<Delivery>[] => [
  { name: 'Event', show: ({ event }) => <code>{event}</code> },
  { name: 'About', show: (delivery) => <About of={delivery} /> },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  { name: 'Happened', show: ({ createdAt }) => <Instant at={createdAt} /> },
  { name: 'Attempts', show: (delivery) => <Attempts of={delivery} /> },
  { name: 'Sent next', show: ({ nextAttemptAt }) => <Instant at={nextAttemptAt} /> },
  {
    name: 'Send it',
    show: ({ id, status, reason }) => (
      <>
        {reason === null ? null : <span>{reason}</span>}
        {isSendable(status) ? (
          <Action
            operation="redeliverWebhook"
            name={status === 'retrying' ? 'Send now' : 'Send again'}
            onDo={() => redeliver(webhookId, id)}
            // Told above the list: it may not be in there any more.
            onDone={({ event }) => onTold(`${event} is sent once more.`)}
          />
        ) : (
          orNone(null)
        )}
      </>
    ),
  },
];

const statusNames = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['retrying', 'Retrying'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
] as const;

const route = getRouteApi('/webhooks/$webhookId');

const sendAllText = (total: string): string =>
  total === '1' ? 'Send the delivery again' : `Send all ${quantityText(total)} again`;

/** Sends all once more that was given up, where there is any. */
function SendFailed({ webhookId }: { readonly webhookId: string }): ReactNode {
  const { data } = useQuery(deliveryList(webhookId, { status: 'failed' }));
  const [isDone, setIsDone] = useState(false);
  const total = data?.pagination.total ?? '0';
  const isNone = total === '0';
  if (isNone && !isDone) return null;
  return (
    <Action
      operation="recoverWebhook"
      name={isNone ? 'Send all that failed again' : sendAllText(total)}
      isHeld={isNone}
      onDo={async () => {
        const recovered = await recover(webhookId);
        // Before the list is read again: without it, this would be gone with what it says.
        setIsDone(true);
        return recovered;
      }}
      told={({ deliveries }) =>
        deliveries === '1'
          ? '1 is sent once more.'
          : `${quantityText(deliveries)} are sent once more.`
      }
    />
  );
}

/** For one that was switched off, by somebody or because nothing reached it for days. */
function SwitchOn({ of: { id, active } }: { readonly of: Webhook }): ReactNode {
  const [isDone, setIsDone] = useState(false);
  if (active && !isDone) return null;
  return (
    <>
      {active ? null : (
        <p>Nothing is sent to it. What it was not told in the last 30 days can be sent after.</p>
      )}
      <Action
        operation="updateWebhook"
        name="Switch it on"
        isHeld={active}
        onDo={async () => {
          const changed = await switchOn(id);
          // Before it is read again: without it, this would be gone with what it says.
          setIsDone(true);
          return changed;
        }}
        told={() => 'It is active.'}
      />
    </>
  );
}

function Deliveries({ webhookId }: { readonly webhookId: string }): ReactNode {
  const search = route.useSearch();
  const { status = '', event = '', page = 0 } = search;
  const navigate = route.useNavigate();
  const { query, onAhead } = useList(
    (to) => deliveryList(webhookId, { ...search, page: to }),
    page,
  );
  const client = useQueryClient();
  const [told, setTold] = useState('');
  // What became of a delivery may have switched the webhook off.
  useEffect(() => {
    void client.invalidateQueries({ queryKey: webhook(webhookId).queryKey });
  }, [client, webhookId, query.data]);
  return (
    <Section title="Deliveries">
      <Filters
        label="Which deliveries"
        fields={[
          { name: 'status', label: 'Status', value: status, options: statusNames },
          { name: 'event', label: 'Event', value: event, hint: 'invoice.posted' },
        ]}
        onApply={(texts) => void navigate({ search: texts })}
      />
      <SendFailed webhookId={webhookId} />
      <p role="status" className="good">
        {told}
      </p>
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Deliveries, the latest first"
        name="deliveries"
        columns={columnsOf(webhookId, setTold)}
        keyOf={({ id }) => id}
        page={page}
        size={size}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
        empty={
          <p>
            {status === '' && event === ''
              ? 'Nothing was sent in the last 30 days.'
              : 'There is none of these.'}
          </p>
        }
      />
    </Section>
  );
}

/** A webhook, and what became of what was sent to it. */
export function WebhookPage(): ReactNode {
  const { webhookId } = route.useParams();
  const query = useQuery(webhook(webhookId));
  return (
    <Page
      title={query.data?.url ?? 'Webhook'}
      above={
        <Trail>
          {[
            <Link key="webhooks" to="/webhooks">
              Webhooks
            </Link>,
            <bdi key="webhook">{query.data?.url ?? 'Webhook'}</bdi>,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(found) => (
          <>
            <Facts
              of={[
                ['Status', <Status key="status" name={stateOf(found)} />],
                ['Failing since', <Instant key="since" at={found.failingSince} />],
                ['Switched off', <Instant key="off" at={found.disabledAt} />],
                ['Why', orNone(found.disabledReason)],
                ['Events', found.events.join(', ')],
              ]}
            />
            <SwitchOn of={found} />
            <Deliveries webhookId={webhookId} />
            <Action
              operation="testWebhook"
              name="Send a test event"
              onDo={() => sendTest(webhookId)}
              told={() => 'A test event is sent: the list says what comes of it.'}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}
