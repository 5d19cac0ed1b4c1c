import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { ApiProblem, messageOf } from '../api/problem.ts';
import { Section } from '../frame/page.tsx';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';
import { Action } from '../shown/action.tsx';
import { quantityText } from '../shown/format.ts';

interface Progress {
  readonly accepted: number;
  readonly processed: number;
  readonly events: number;
  readonly billedMonths: number;
  readonly months: number;
}

type Demo =
  | { readonly status: 'none' | 'offered' | 'done' }
  | { readonly status: 'running'; readonly progress: Progress | null }
  | { readonly status: 'failed'; readonly reason: string };

/** No operation of the API: only an instance on a personal machine makes a demo. */
async function ask(method: 'GET' | 'POST', signal?: AbortSignal): Promise<Demo> {
  const request = new Request('/console/demo-year', { method, ...(signal ? { signal } : {}) });
  const response = await fetchSignedIn(request);
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body as Demo;
  throw new ApiProblem(messageOf(body), response.status, response.headers.get('x-request-id'));
}

/** While it is made, how far it is: that has an end, and nobody else is told of it. */
const progressMs = 500;

const demo = queryOptions({
  queryKey: ['demo'],
  queryFn: ({ signal }) => ask('GET', signal),
  refetchInterval: ({ state }) => (state.data?.status === 'running' ? progressMs : false),
});

/** What is under way, as its name, how far it is, and of how much. */
function stepOf({ accepted, processed, events, billedMonths, months }: Progress) {
  if (accepted < events) return ['Usage is sent', accepted, events] as const;
  if (processed < events) return ['Usage is rated', processed, events] as const;
  return ['Months are billed', billedMonths, months] as const;
}

function Running({ progress }: { readonly progress: Progress | null }): ReactNode {
  const [name, done, of] = progress ? stepOf(progress) : (['Customers are made', 0, 1] as const);
  return (
    <>
      <p role="status">
        {name}
        {progress === null
          ? '…'
          : `: ${quantityText(String(done))} of ${quantityText(String(of))}.`}
      </p>
      <progress aria-label={name} value={done} max={of} />
    </>
  );
}

/** A tenant that nobody has used yet: it can be filled with something to look at. */
export function FirstRun({ isEmpty }: { readonly isEmpty: boolean }): ReactNode {
  const client = useQueryClient();
  const { data } = useQuery({
    ...demo,
    // Once of each page that is loaded, too: it may have been begun before.
    enabled: ({ state }) => isEmpty || state.data === undefined || state.data.status === 'running',
  });
  const [wasSeen, setWasSeen] = useState(false);
  const found = data?.status ?? 'none';
  if (!wasSeen && (found === 'offered' || found === 'running')) setWasSeen(true);
  // What was done before this page was opened is no news; that nothing is there has its reason.
  const status = wasSeen || (isEmpty && found === 'failed') ? found : 'none';
  useEffect(() => {
    // All of it is there now, whatever was read while it was made.
    if (status === 'done') void client.invalidateQueries();
  }, [status, client]);
  const hasCustomers = data?.status === 'running' && data.progress !== null;
  useEffect(() => {
    // They are made before usage is sent.
    if (hasCustomers) void client.invalidateQueries({ queryKey: ['accounts'] });
  }, [hasCustomers, client]);
  if (status === 'none') return null;
  return (
    <Section title="A year to look at">
      {status === 'offered' ? (
        <>
          <p>
            Nobody has used this tenant yet. It can be filled with what twelve customers used in a
            year: 100,000 events, rated, and their months billed. That takes half a minute, and
            stays: make another tenant for what is real.
          </p>
          <Action name="Fill it with a year" isPrimary onDo={() => ask('POST')} />
        </>
      ) : null}
      {data?.status === 'running' ? <Running progress={data.progress} /> : null}
      {data?.status === 'failed' ? (
        <p role="alert" className="fault">
          The year was not made: {data.reason}
        </p>
      ) : null}
      {status === 'done' ? (
        <p role="status">
          It is there: look at the{' '}
          <Link to="/usage" search={{}}>
            usage
          </Link>
          , an{' '}
          <Link to="/invoices" search={{}}>
            invoice
          </Link>{' '}
          with what each item is made of, or what other{' '}
          <Link to="/prices" search={{}}>
            prices
          </Link>{' '}
          would have come to.
        </p>
      ) : null}
    </Section>
  );
}
