import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import type { ExactJson } from '../api/exact-json.ts';
import { Section } from '../frame/page.tsx';
import { TryFirst } from '../shown/action.tsx';
import { lackOfReason, Reason } from '../shown/field.tsx';
import { quantityText, sumsText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Facts, orNone } from '../shown/values.tsx';
import { amend, cancel, messageIn, messageLines, type Event } from './queries.ts';

type Corrected = Schemas['EventCorrected'];

/** What follows, whatever is corrected. */
const following = 'What was invoiced stands, and the difference is on the next invoice.';

type Tried = NonNullable<Corrected['preview']>;

/** What a correction would come to. */
const Preview = ({ of: { changed, before, after, rejected } }: { readonly of: Tried }): ReactNode =>
  // Of a rejected event that is dismissed.
  changed === '0' ? (
    <p>No charge changes.</p>
  ) : (
    <>
      <Facts
        of={[
          ['Events that come out different', quantityText(changed)],
          ['Before', orNone(sumsText(before))],
          ['After', orNone(sumsText(after))],
          ...rejected.map(
            ({ code, events }) => [`Keep their charges: ${code}`, quantityText(events)] as const,
          ),
        ]}
      />
      <p>Later events of the same counters are among them. {following}</p>
    </>
  );

const showTried = (tried: Tried): ReactNode => <Preview of={tried} />;

/** What is done to an event is called otherwise where it was never rated: nothing is taken back then. */
const words = {
  rated: {
    title: 'Amend or cancel',
    summary: 'Mend it: amend or cancel',
    reason: 'Reason, which the correction says',
    tryAmend: 'What amending it changes',
    amend: 'Amend it',
    canceled: 'Canceled, it costs nothing, and its id stays taken.',
    tryCancel: 'What canceling it changes',
    cancel: 'Cancel it',
  },
  rejected: {
    title: 'Mend or dismiss',
    summary: 'Mend it and send it again, or dismiss it',
    reason: 'Reason, which is kept with it',
    tryAmend: 'What sending it again comes to',
    amend: 'Send it again',
    canceled: 'Dismissed, it is never billed: it counts as canceled and is not tried again.',
    tryCancel: 'What dismissing it changes',
    cancel: 'Dismiss it',
  },
} as const;
type Words = (typeof words)[keyof typeof words];

interface Mending {
  readonly id: string;
  readonly said: Words;
  /** The charges that stand. */
  readonly charges: string;
  readonly reason: string;
  readonly onDone: (corrected: Corrected) => void;
}

const lackOf = (message: ExactJson | undefined, isSame: boolean): string | undefined =>
  message === undefined
    ? 'Write a JSON object first.'
    : isSame
      ? 'Change what it said first.'
      : undefined;

function Amend({ id, said, charges, reason, onDone }: Mending): ReactNode {
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
                : 'It is rated anew with what is in force at its time.'}
            </p>
            <TryFirst
              operation="amendUsageEvent"
              tryName={said.tryAmend}
              name={said.amend}
              of={`${charges} ${text}`}
              lacks={lackOfReason(reason) ?? lackOf(message, text === lines)}
              onTry={async () => (await amend(id, reason, message ?? null, true)).preview ?? null}
              show={showTried}
              onDo={() => amend(id, reason, message ?? null, false)}
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

const doneText = ({ status, correctionId }: Corrected): string =>
  status === 'rated'
    ? 'It was amended.'
    : correctionId === null
      ? 'It is dismissed.'
      : 'It is canceled.';

/** How an event is amended or canceled; its content may be gone. */
function Ways({ of, hasMessage }: { of: Mending; hasMessage: boolean }): ReactNode {
  const { id, said, charges, reason, onDone } = of;
  return (
    <>
      {hasMessage ? <Amend {...of} /> : null}
      <p>{said.canceled}</p>
      <TryFirst
        operation="cancelUsageEvent"
        tryName={said.tryCancel}
        name={said.cancel}
        isDangerous
        of={charges}
        lacks={lackOfReason(reason)}
        onTry={async () => (await cancel(id, reason, true)).preview ?? null}
        show={showTried}
        onDo={() => cancel(id, reason, false)}
        onDone={onDone}
      />
    </>
  );
}

/**
 * An event that was wrong: canceled, or given other content; one that could not be rated is dismissed, or
 * mended and rated. What that does is said before.
 */
export function Mend({ event }: { readonly event: Event }): ReactNode {
  const [reason, setReason] = useState('');
  const [corrected, setCorrected] = useState<Corrected>();
  const { id, status, message } = event;
  if (id === null) return null;
  const said = status === 'rated' || status === 'rejected' ? words[status] : undefined;
  const charges = event.ratedTransactions.map((charge) => charge.id).join(' ');
  return (
    <>
      <p role="status">
        {corrected === undefined ? null : (
          <>
            {doneText(corrected)}{' '}
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
      {said ? (
        // What was not rated has nothing else to show.
        <details open={status === 'rejected'}>
          <summary>{said.summary}</summary>
          <Section title={said.title}>
            <Reason label={said.reason} value={reason} onChange={setReason} />
            <Ways
              of={{ id, said, charges, reason: reason.trim(), onDone: setCorrected }}
              hasMessage={message !== null && message !== undefined}
            />
          </Section>
        </details>
      ) : null}
    </>
  );
}
