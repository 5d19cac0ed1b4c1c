import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Reason } from '../shown/field.tsx';
import { quantityText, sumsText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Facts, orNone } from '../shown/values.tsx';
import { amend, cancel, messageIn, messageLines, type Event } from './queries.ts';

type Corrected = Schemas['EventCorrected'];

/** What follows, whatever is corrected. */
const following = 'What was invoiced stands, and the difference is on the next invoice.';

type Tried = NonNullable<Corrected['preview']>;

/** What a correction would come to. */
const Preview = ({
  of: { changed, before, after, rejected },
}: {
  readonly of: Tried;
}): ReactNode => (
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

/** Says what a correction would come to; only then there is the button that does it. */
function TryFirst({
  tryName,
  name,
  of,
  isDisabled,
  onDo,
  onDone,
}: {
  readonly tryName: string;
  readonly name: string;
  /** What is done, and to which charges: where it is something else, it is tried anew. */
  readonly of: string;
  readonly isDisabled: boolean;
  readonly onDo: (dryRun: boolean) => Promise<Corrected>;
  readonly onDone: (corrected: Corrected) => void;
}): ReactNode {
  const [tried, setTried] = useState<{ readonly of: string; readonly preview: Tried }>();
  return (
    <>
      <Action
        name={tryName}
        isDisabled={isDisabled}
        // Of what it was at the press: other content may be written meanwhile.
        onDo={async () => {
          const { preview } = await onDo(true);
          return preview && { of, preview };
        }}
        onDone={setTried}
      />
      <div role="status">{tried?.of === of ? <Preview of={tried.preview} /> : null}</div>
      {tried?.of === of ? (
        <Action
          name={name}
          isPrimary
          isDisabled={isDisabled}
          onDo={() => onDo(false)}
          onDone={(corrected) => {
            setTried(undefined);
            onDone(corrected);
          }}
        />
      ) : null}
    </>
  );
}

interface Mending {
  readonly id: string;
  /** The charges that stand. */
  readonly charges: string;
  readonly reason: string;
  readonly onDone: (corrected: Corrected) => void;
}

function Amend({ id, charges, reason, onDone }: Mending): ReactNode {
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
              tryName="What amending it changes"
              name="Amend it"
              of={`${charges} ${text}`}
              isDisabled={reason === '' || message === undefined || text === lines}
              onDo={(dryRun) => amend(id, reason, message ?? null, dryRun)}
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
  const charges = event.ratedTransactions.map((charge) => charge.id).join(' ');
  const mending = { id, charges, reason: reason.trim(), onDone: setCorrected };
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
            <p>Canceled, it costs nothing, and its id stays taken.</p>
            <TryFirst
              tryName="What canceling it changes"
              name="Cancel it"
              of={charges}
              isDisabled={mending.reason === ''}
              onDo={(dryRun) => cancel(id, mending.reason, dryRun)}
              onDone={setCorrected}
            />
          </Section>
        </details>
      ) : null}
    </>
  );
}
