import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Reason } from '../shown/field.tsx';
import { moneyText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { amend, cancel, messageIn, messageLines, type Event } from './queries.ts';

type Corrected = Schemas['EventCorrected'];

/** What there is to pay for an event now: what a correction takes back. */
const chargesText = ({ ratedTransactions }: Event): string =>
  ratedTransactions.map(({ amount, currency }) => moneyText(amount, currency)).join(' and ');

/** What follows, whatever is corrected. */
const following =
  'Later events of the same counters that come out different are corrected with it; what was invoiced stands, and the difference is on the next invoice.';

interface Mending {
  readonly event: Event;
  readonly id: string;
  readonly reason: string;
  readonly onDone: (corrected: Corrected) => void;
}

function Amend({ event, id, reason, onDone }: Mending): ReactNode {
  const query = useQuery(messageLines(id));
  const [changed, setChanged] = useState<string>();
  return (
    <Loaded query={query}>
      {(lines) => {
        const text = changed ?? lines;
        const message = messageIn(text);
        return (
          <>
            <label className="wide">
              <span>What it should have said, as JSON</span>
              <textarea
                className="code"
                rows={14}
                spellCheck={false}
                value={text}
                aria-invalid={message === undefined}
                onChange={({ target }) => setChanged(target.value)}
              />
            </label>
            <p>
              {message === undefined
                ? 'This is no JSON object.'
                : `It is rated anew with what is in force at its time, and ${chargesText(event)} is taken back. ${following}`}
            </p>
            <Action
              name="Amend it"
              isPrimary
              isDisabled={reason === '' || message === undefined || text === lines}
              onDo={() => amend(id, reason, message ?? null)}
              onDone={(corrected) => {
                setChanged(undefined);
                onDone(corrected);
              }}
            />
          </>
        );
      }}
    </Loaded>
  );
}

/** An event that was wrong: canceled, or given other content. What that does is said before. */
export function Mend({ event }: { readonly event: Event }): ReactNode {
  const [reason, setReason] = useState('');
  const [corrected, setCorrected] = useState<Corrected>();
  const { id, status } = event;
  if (id === null) return null;
  const mending = { event, id, reason: reason.trim(), onDone: setCorrected };
  return (
    <>
      <p role="status">
        {corrected === undefined ? null : (
          <>
            {corrected.status === 'canceled' ? 'It is canceled.' : 'It was amended.'}{' '}
            {corrected.correctionId === null ? null : (
              <Link
                to="/usage/corrections/$correctionId"
                params={{ correctionId: corrected.correctionId }}
                search={{}}
              >
                What the correction came to
              </Link>
            )}
          </>
        )}
      </p>
      {status === 'rated' ? (
        <details>
          <summary>Mend it: amend or cancel</summary>
          <Section title="Amend or cancel">
            <Reason label="Reason, which the correction says" value={reason} onChange={setReason} />
            {event.message === null || event.message === undefined ? null : <Amend {...mending} />}
            <p>
              Canceled, it costs nothing: {chargesText(event)} is taken back, and its id stays
              taken. {following}
            </p>
            <Action
              name="Cancel it"
              isDisabled={mending.reason === ''}
              onDo={() => cancel(id, mending.reason)}
              onDone={setCorrected}
            />
          </Section>
        </details>
      ) : null}
    </>
  );
}
